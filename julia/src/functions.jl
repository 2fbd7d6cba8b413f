# `enzyme`, and calls that compute values.

mutable struct Handle
    id::UInt64
    function Handle(id::UInt64)
        handle = new(id)
        # Closing neither waits for a call nor yields, so a finalizer may do it.
        finalizer(h -> ccall(LIBRARY.close, Cint, (UInt64, Ptr{Ptr{Cvoid}}), h.id, C_NULL), handle)
        return handle
    end
end

# A form of the arguments of an annotated call: which parameters, and the position of each input and output.
struct Form
    parameters::Vector{Parameter}
    ins::Vector{Int}
    outs::Vector{Int}           # 0: the function's value
end

function form(parameters, ins, outs)
    at(p) = something(findfirst(q -> q.name == p.name, parameters), 0)
    return Form(parameters, map(at, ins), map(p -> p.role === :return ? 0 : at(p), outs))
end

"""
    Enzyme

A foreign function, differentiable; made by [`enzyme`](@ref). `f.inputs` and `f.outputs` are the names of what calls
take and return, `f.signature` is the signature in use, `f.prototype` the discovered one, `f.manifest` all that is
known.

May be called from any number of threads at once.
"""
struct Enzyme
    handle::Handle
    name::String
    parameters::Vector{Parameter}
    ins::Vector{Parameter}
    outs::Vector{Parameter}
    full::Form
    short::Form                 # without sizes and scratch
    row_major::Bool
    mask::UInt64
    description::Dict{String,Any}
end

"""
    enzyme(source, function, signature = nothing; options...)

Makes a C, C++ or Fortran function differentiable. `source` is a file or a vector of files that belong together,
`function` a C name, a C++ name (`"ns::f(double const*, int)"` where overloaded) or a template instance (`"f<double>"`).
The signature may also be given as a keyword; it says shapes and roles, `"A[m,n], x[n] -> y[m]"`, in the source's own
order of dimensions. Without one, pointers that are only read are inputs, those only written are outputs, and integers
are the number of elements.

Options are those of every front end: `flags`, `include_dirs`, `defines`, `libraries`, `sizes`, `math`, `inactive`,
`verify`, `loose_types`, `engine`, `timeout`; see the README of ffgrad. Dictionaries may be given as named tuples:
`sizes = (k = 8,)`.

Returns an [`FFGrad.Enzyme`](@ref). Throws `CompileError`, `SignatureError`, `ToolchainError` or `CacheError`.
"""
function enzyme(source, func::AbstractString, positional = nothing; signature = positional, options...)
    library()
    sources = source isa AbstractString ? [source] : collect(source)
    spec = Dict(
        "sources" => map(abspath, sources), "function" => func, "signature" => signature,
        "options" => Dict{String,Any}(plain(options)),
    )
    id, error, text = Ref(UInt64(0)), Ref(C_NULL), JSON.write(spec)
    status = uninterrupted() do
        ccall(LIBRARY.open, Cint, (Cstring, Ptr{UInt64}, Ptr{Ptr{Cvoid}}), text, id, error)
    end
    check(status, error)
    return Enzyme(Handle(id[]))
end

plain(options) = [String(name) => name === :defines ? defined(value) : value for (name, value) in options]
defined(macros) = Dict(string(name) => define(value) for (name, value) in pairs(macros))
define(value) = value === nothing || value === true ? nothing : string(value === false ? 0 : value)

function Enzyme(handle::Handle)
    text, error = Ref(Ptr{UInt8}(C_NULL)), Ref(C_NULL)
    check(ccall(LIBRARY.describe, Cint, (UInt64, Ptr{Ptr{UInt8}}, Ptr{Ptr{Cvoid}}), handle.id, text, error), error)
    d = JSON.parse(taken(text[]))
    from_zero(position) = position === nothing ? 0 : position + 1
    parameters = map(d["parameters"]) do p
        rank = p["rank"] === nothing ? -1 : p["rank"]
        Parameter(
            p["name"], Symbol(p["role"]), p["type"], rank, p["differentiable"], from_zero(p["input"]), from_zero(p["output"]),
        )
    end
    ins = Parameter[parameters[i+1] for i in d["inputs"]]
    outs = Parameter[parameters[i+1] for i in d["outputs"]]
    mask = UInt64(0)
    for (i, p) in enumerate(ins)
        mask |= UInt64(p.differentiable) << (i - 1)
    end
    written = filter(p -> p.role !== :return, parameters)
    full = form(written, ins, outs)
    short = form(filter(p -> p.role !== :size && p.role !== :scratch, written), ins, outs)
    return Enzyme(handle, d["function"], parameters, ins, outs, full, short, d["order"] == "row-major", mask, d)
end

@inline function Base.getproperty(f::Enzyme, name::Symbol)
    name === :inputs && return map(p -> p.name, getfield(f, :ins))
    name === :outputs && return map(p -> p.name, getfield(f, :outs))
    (name === :signature || name === :prototype || name === :manifest) && return getfield(f, :description)[String(name)]
    return getfield(f, name)
end
Base.propertynames(::Enzyme) = (:inputs, :outputs, :signature, :prototype, :manifest)

Base.show(io::IO, f::Enzyme) = print(io, "enzyme(", f.name, ": ", f.signature, ")")

"Emits what the library wants to be known, if anything."
function warn_of(f::Enzyme)
    text = Ref(Ptr{UInt8}(C_NULL))
    ccall(LIBRARY.take_warnings, Cint, (UInt64, Ptr{Ptr{UInt8}}, Ptr{Ptr{Cvoid}}), f.handle.id, text, C_NULL)
    text[] == C_NULL || emit(taken(text[]))
    return
end

"""
    FFGrad.checkpointing(f::Enzyme)

What the last reverse sweep of a loop over steps (`repeat = "t"`), or of a checkpointed loop inside the function, did: a dictionary with
`"steps"`, `"snapshots"`, `"on_disk"`, `"disk_bytes"`, `"forward"`, `"recomputed"`, `"state_bytes"`, `"peak_bytes"` and `"seconds"`;
`nothing` before the first one.
"""
function checkpointing(f::Enzyme)
    text, error = Ref(Ptr{UInt8}(C_NULL)), Ref(C_NULL)
    check(ccall(LIBRARY.checkpointing, Cint, (UInt64, Ptr{Ptr{UInt8}}, Ptr{Ptr{Cvoid}}), f.handle.id, text, error), error)
    return text[] == C_NULL ? nothing : JSON.parse(taken(text[]))
end

const REPEATED = Set{String}()

@noinline function emit(texts::String)
    for text in JSON.parse(texts)
        # A doubtful call warns each time, all but the first in the same words: those are shown once.
        if occursin("an earlier warning has the numbers", text)
            text in REPEATED && continue
            push!(REPEATED, text)
        end
        @warn "GradientWarning: $text"
    end
end

@noinline function wrong_number(f::Enzyme, what::String, expected::Vector{Parameter}, found::Int)
    names = join(map(p -> p.name, expected), ", ")
    counted = length(expected) == 1 ? "1 $(chop(what))" : "$(length(expected)) $what"
    text = "`$(f.name)` takes $counted, $found $(found == 1 ? "was" : "were") given\n  Its $what are: $names."
    throw(SignatureError(text; code = "arity"))
end

"The inputs as the library gets them, and what must live as long as the call."
function lend(f::Enzyme, args::Tuple)
    length(args) == length(f.ins) || wrong_number(f, "inputs", f.ins, length(args))
    kept = held_all(args, f.ins, 1)
    return kept, packed(input_slots(kept, f.ins, 1, f.row_major))
end

# Recursion over tuples, so that each argument keeps its type.
held_all(::Tuple{}, ::Vector{Parameter}, ::Int) = ()
held_all(args::Tuple, ps::Vector{Parameter}, i::Int) = (held(args[1], ps[i]), held_all(Base.tail(args), ps, i + 1)...)
input_slots(::Tuple{}, ::Vector{Parameter}, ::Int, ::Bool) = ()
input_slots(kept::Tuple, ps::Vector{Parameter}, i::Int, row_major::Bool) =
    (slot(kept[1], ps[i], row_major), input_slots(Base.tail(kept), ps, i + 1, row_major)...)

"Memory for the outputs of a call with these inputs, as a tuple of arrays and `NumberPlace`s."
function output_places(f::Enzyme, inputs::Packed)
    shapes = Vector{CShape}(undef, length(f.outs))
    error = Ref(C_NULL)
    status = GC.@preserve f inputs ccall(
        LIBRARY.output_shapes, Cint, (UInt64, Ptr{CArray}, Csize_t, Ptr{CShape}, Csize_t, Ptr{Ptr{Cvoid}}),
        f.handle.id, pointer_of(inputs), count_of(inputs), shapes, length(shapes), error,
    )
    check(status, error)
    length(shapes) == 1 && return (place(shapes[1], f.row_major),)
    return Tuple(place(shape, f.row_major) for shape in shapes)
end

function place(shape::CShape, row_major::Bool)
    n = Int(shape.ndim)
    n == 0 && return NumberPlace(shape.dtype)
    # The usual ranks and types without method lookup.
    n == 1 && shape.dtype == 2 && return Vector{Float64}(undef, shape.dims[1])
    n == 2 && shape.dtype == 2 && return Matrix{Float64}(undef, oriented(shape.dims[1:2], row_major))
    return Array{DTYPES[shape.dtype],n}(undef, oriented(shape.dims[1:n], row_major))
end

oriented(dims, row_major) = row_major ? reverse(dims) : dims

function primal!(f::Enzyme, kept::Tuple, inputs::Packed, outputs::Tuple, expected::UInt64)
    places = packed(map(o -> slot(o, f.row_major), outputs))
    error = Ref(C_NULL)
    status = GC.@preserve f kept inputs outputs places (uninterrupted() do
        ccall(
            LIBRARY.call, Cint, (UInt64, Ptr{CArray}, Csize_t, UInt64, Ptr{CArray}, Csize_t, Ptr{Ptr{Cvoid}}),
            f.handle.id, pointer_of(inputs), count_of(inputs), expected, pointer_of(places), count_of(places), error,
        )
    end)
    warn_of(f)
    check(status, error)
    return
end

function compute(f::Enzyme, args::Tuple, expected::UInt64)
    kept, inputs = lend(f, args)
    outputs = GC.@preserve kept output_places(f, inputs)
    primal!(f, kept, inputs, outputs, expected)
    return outputs
end

one_or_all(outputs::Tuple{Any}) = taken(outputs[1])
one_or_all(outputs::Tuple) = map(taken, outputs)

"""
    f(inputs...)

The values of the function: a new array for each output, a number for a scalar, a tuple where there are several. Inputs
are passed in place and never changed.

With at least one argument in `Const`, `Active`, `Duplicated` or `DuplicatedNoNeed` the call differentiates; see
[`Duplicated`](@ref).
"""
(f::Enzyme)(args...; seed = 1.0) = call(f, args, seed, has_annotation(args))

has_annotation(args::Tuple) = any(a -> a isa Annotation, args) ? Val(true) : Val(false)
call(f::Enzyme, args::Tuple, _, ::Val{false}) = one_or_all(compute(f, args, UInt64(0)))

"""
    f! = inplace(f)
    f!(y, inputs...)

The form of `f` that writes its value to `y`, and returns it. Where there are several outputs `y` is a tuple; the place
of a number is a 0-d array or a `Ref`. `y` may be one of the inputs.
"""
inplace(f::Enzyme) = InPlace(f)

struct InPlace
    f::Enzyme
end

Base.show(io::IO, f!::InPlace) = print(io, "inplace(", f!.f, ")")

(f!::InPlace)(y, args...) = (f!((y,), args...); y)
function (f!::InPlace)(ys::Tuple, args...)
    f = f!.f
    foreach(writable, ys)
    length(ys) == length(f.outs) || wrong_number(f, "outputs", f.outs, length(ys))
    kept, inputs = lend(f, args)
    primal!(f, kept, inputs, ys, UInt64(0))
    return ys
end

writable(::Union{Strided{<:Element},Base.RefValue{<:Element}}) = nothing
writable(y) = throw(DtypeError("a result goes to an array of numbers with strides, or a `Ref`, not to $(typeof(y))"; code = "dtype"))
