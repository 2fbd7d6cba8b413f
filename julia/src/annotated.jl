# Calls with `Const`, `Active`, `Duplicated`: reverse mode that adds to the caller's shadows, as Enzyme.jl's `autodiff`
# does.

"""
    f(Duplicated(x, dx), n, Duplicated(y, dy); seed = 1)

A call with at least one annotated argument runs `f` and its reverse mode. Arguments stand as in the C prototype; sizes
and scratch arrays may be left out (all of them, then), and scratch that is given is not used. A bare argument is
`Const`.

| argument | `Const(x)`, `x` | `Active(x)` | `Duplicated(x, dx)` | `DuplicatedNoNeed(x, dx)` |
|---|---|---|---|---|
| input | read | a number: its derivative is returned | `dx += Jᵀ dy` | the same |
| output | written | | written; `dy` is read, then zero | not written; `dy` is read, then zero |
| input and output | overwritten | | overwritten; `dx` from the result's cotangent to the input's | not written; the same |
| size | checked | | | |

The value of a function that returns one has the cotangent `seed`. Returns a tuple: for each argument the derivative of
an `Active` one, else `nothing`. On an error no shadow has changed, unless an argument is updated in place and another output does not fit.
"""
function call(f::Enzyme, args::Tuple, seed, ::Val{true})
    form = form_of(f, args)
    foreach(check_annotation, form.parameters, args)
    ins = ntuple(i -> args[form.ins[i]], length(f.ins))
    outs = ntuple(i -> form.outs[i] == 0 ? nothing : args[form.outs[i]], length(f.outs))
    kept, inputs = lend(f, map(value, ins))
    GC.@preserve kept check_sizes(f, inputs, form, args)

    cotangents = ntuple(i -> cotangent_of(f.outs[i], outs[i], seed), length(outs))
    places = ntuple(i -> shadow_place(f.ins[i], ins[i]), length(ins))
    # Values first, so that errors are found before a shadow changes; but an input that is still needed is not overwritten.
    values = map(value_place, outs)
    in_place = any(p -> p.role === :inout, f.ins)
    in_place || write_values(f, kept, inputs, values)
    if any(!isnothing, places)
        kept_shadows, given = shadows(f, cotangents, f.outs, "cotangents")
        results = packed(map(p -> slot(p, f.row_major), places))
        GC.@preserve kept kept_shadows places derive(f, LIBRARY.vjp, inputs, given, results, ACCUMULATE)
    end
    in_place && write_values(f, kept, inputs, values)
    settle(f, outs, places)
    return map((p, a) -> a isa Active ? taken(places[p.input]) : nothing, Tuple(form.parameters), args)
end

write_values(f::Enzyme, kept, inputs::Packed, values) =
    any(!isnothing, values) && primal!(f, kept, inputs, values, UInt64(0))

"The parameters that the arguments stand for."
function form_of(f::Enzyme, args::Tuple)
    length(args) == length(f.full.parameters) && return f.full
    length(args) == length(f.short.parameters) && return f.short
    names(ps) = join(map(p -> p.name, ps), ", ")
    text = "`$(f.name)` takes the arguments $(names(f.full.parameters)), or $(names(f.short.parameters)); $(length(args)) were given"
    throw(SignatureError(text; code = "arity"))
end

function check_annotation(p::Parameter, a)
    is_written = p.role === :output || p.role === :inout
    if a isa Active && !(p.role === :input && p.rank == 0 && p.differentiable)
        refuse_annotation(p, "Active", "only a number that is a differentiable input can be; use Duplicated for an array")
    elseif a isa Union{Duplicated,DuplicatedNoNeed}
        p.role === :size && refuse_annotation(p, "Duplicated", "it is a size")
        p.role === :scratch && return
        p.differentiable || refuse_annotation(p, "Duplicated", "it has no derivative")
        is_written || a.val isa Union{AbstractArray,Base.RefValue} || refuse_annotation(p, "Duplicated", "a number cannot be added to; use Active")
        writable(a.dval)
    end
    is_written && writable(value(a))
    return
end

refuse_annotation(p::Parameter, kind, reason) =
    throw(SignatureError("`$(p.name)` cannot be $kind: $reason"; code = "activity"))

function check_sizes(f::Enzyme, inputs::Packed, form::Form, args)
    any(p -> p.role === :size, form.parameters) || return
    sizes, error = zeros(Int64, length(f.parameters)), Ref(C_NULL)
    status = GC.@preserve f inputs ccall(
        LIBRARY.sizes, Cint, (UInt64, Ptr{CArray}, Csize_t, Ptr{Int64}, Csize_t, Ptr{Ptr{Cvoid}}),
        f.handle.id, pointer_of(inputs), count_of(inputs), sizes, length(sizes), error,
    )
    check(status, error)
    for (p, a, size) in zip(f.parameters, args, sizes)
        p.role === :size && value(a) != size || continue
        text = "`$(p.name)` is $(value(a)), but the shapes of the arrays make it $size"
        throw(ShapeError(text; code = "size", argument = p.name, expected = string(size), found = string(value(a))))
    end
end

const AnyDuplicated = Union{Duplicated,DuplicatedNoNeed}

function cotangent_of(p::Parameter, a, seed)
    p.role === :return && return p.differentiable ? seed : nothing
    return a isa AnyDuplicated ? a.dval : nothing
end

# Where the library adds a gradient to. The shadow of an argument updated in place is replaced, by `settle`.
function shadow_place(p::Parameter, a)
    a isa Active && return NumberPlace(p.dtype)
    a isa AnyDuplicated || return nothing
    return p.role === :inout ? fill!(similar(a.dval), 0) : a.dval
end

# Where the library writes a value to.
value_place(a) = a isa DuplicatedNoNeed ? nothing : value(a)

"Cotangents that were used up."
function settle(f::Enzyme, outs, places)
    for (p, a) in zip(f.outs, outs)
        a isa AnyDuplicated || continue
        p.role === :inout ? copyto!(a.dval, places[p.input]) : zero!(a.dval)
    end
end

zero!(x::AbstractArray) = fill!(x, 0)
zero!(x::Base.RefValue) = (x[] = 0; x)
