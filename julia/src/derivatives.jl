# gradient, pullback, pushforward, hvp: derivatives as new arrays.

"Runs one of the derivative entry points, which take lists of arrays: inputs, shadows, results."
function derive(f::Enzyme, entry::Ptr{Cvoid}, inputs::Packed, shadows::Packed, results::Packed, flags::UInt32)
    error = Ref(C_NULL)
    status = GC.@preserve f inputs shadows results (uninterrupted() do
        ccall(
            entry, Cint,
            (UInt64, Ptr{CArray}, Csize_t, Ptr{CArray}, Csize_t, Ptr{CArray}, Csize_t, UInt32, Ptr{Ptr{Cvoid}}),
            f.handle.id, pointer_of(inputs), count_of(inputs), pointer_of(shadows), count_of(shadows), pointer_of(results),
            count_of(results), flags, error,
        )
    end)
    warn_of(f)
    check(status, error)
    return
end

# --- shadows: cotangents of outputs, tangents of inputs ----------------------------------------------

held_shadows(::Tuple{}, ::Vector{Parameter}, ::Int) = ()
held_shadows(shadows::Tuple, ps::Vector{Parameter}, i::Int) =
    (held_shadow(shadows[1], ps[i]), held_shadows(Base.tail(shadows), ps, i + 1)...)
held_shadow(::Nothing, ::Parameter) = nothing
held_shadow(x, p::Parameter) = held(x, p)

shadow_slots(::Tuple{}, ::Vector{Parameter}, ::Int, ::Bool) = ()
shadow_slots(kept::Tuple, ps::Vector{Parameter}, i::Int, row_major::Bool) =
    (shadow_slot(kept[1], ps[i], row_major), shadow_slots(Base.tail(kept), ps, i + 1, row_major)...)
shadow_slot(::Nothing, ::Parameter, ::Bool) = NoSlot()
shadow_slot(x::Union{AbstractArray,Base.RefValue}, ::Parameter, row_major::Bool) = slot(x, row_major)
function shadow_slot(x::Real, p::Parameter, ::Bool)
    p.dtype == dtype_code(Float32) && return ScalarSlot(p.dtype, bits(Float32(x)))
    p.dtype == dtype_code(Float64) && return ScalarSlot(p.dtype, bits(Float64(x)))
    # The derivative of an integer is no derivative; the library takes none.
    return ScalarSlot(dtype_code(Float64), bits(Float64(x)))
end

function shadows(f::Enzyme, given::Tuple, ps::Vector{Parameter}, what::String)
    length(given) == length(ps) || wrong_number(f, what, ps, length(given))
    kept = held_shadows(given, ps, 1)
    return kept, packed(shadow_slots(kept, ps, 1, f.row_major))
end

# --- gradients ----------------------------------------------------------------------------------------

# The array for an input's gradient: like the input, or nothing where there is no gradient.
gradient_places(::Tuple{}, ::Tuple{}, ::Vector{Parameter}, ::Int) = ()
gradient_places(args::Tuple, kept::Tuple, ps::Vector{Parameter}, i::Int) =
    (gradient_place(args[1], kept[1], ps[i]), gradient_places(Base.tail(args), Base.tail(kept), ps, i + 1)...)
gradient_place(::Const, _, ::Parameter) = nothing
gradient_place(_, kept, p::Parameter) = p.differentiable ? place_like(kept, p) : nothing
place_like(x::AbstractArray{T,N}, ::Parameter) where {T,N} = Array{T,N}(undef, size(x))
place_like(_, p::Parameter) = NumberPlace(p.dtype)

mask_of(places::Tuple) = mask_of(places, UInt64(1))
mask_of(::Tuple{}, ::UInt64) = UInt64(0)
mask_of(places::Tuple, bit::UInt64) = (places[1] === nothing ? UInt64(0) : bit) | mask_of(Base.tail(places), bit << 1)

function vjp(f::Enzyme, args::Tuple, kept::Tuple, inputs::Packed, cotangents::Tuple)
    kept_shadows, given = shadows(f, cotangents, f.outs, "cotangents")
    places = gradient_places(args, kept, f.ins, 1)
    results = packed(map(p -> slot(p, f.row_major), places))
    GC.@preserve kept kept_shadows places derive(f, LIBRARY.vjp, inputs, given, results, UInt32(0))
    return map(taken, places)
end

# Bit i: input i may get a gradient and the caller has not marked it `Const`.
wanted(f::Enzyme, args::Tuple) = f.mask & ~consts(args, UInt64(1))
consts(::Tuple{}, ::UInt64) = UInt64(0)
consts(args::Tuple, bit::UInt64) = (args[1] isa Const ? bit : UInt64(0)) | consts(Base.tail(args), bit << 1)

function one_number(f::Enzyme)
    length(f.outs) == 1 && f.outs[1].rank == 0 && f.outs[1].dtype <= 2 && return
    text = "`$(f.name)` does not return one number, but $(join(f.outputs, ", "))\n" *
           "  Say what to differentiate by a cotangent: y, back = pullback(f, ...); back(dy)."
    throw(SignatureError(text; code = "no-scalar"))
end

"""
    gradient(f, inputs...) -> tuple

The gradients of a function that returns one number, one an input: an array like the input, a number for a number,
`nothing` for integers and for inputs that are constant (`Const(x)`, or `const` in the signature). All are new; nothing
is added to.
"""
function gradient(f::Enzyme, args...)
    one_number(f)
    kept, inputs = lend(f, args)
    return vjp(f, args, kept, inputs, (1.0,))
end

"""
    pullback(f, inputs...) -> y, back

The value of `f`, and the function that takes a cotangent for each output (an array like it, a number, or `nothing` for
zero) and returns a tuple with a gradient for each input, as [`gradient`](@ref) does. `back` may be called several
times; it computes `f` again, from the same memory, so the inputs must not be changed before.
"""
function pullback(f::Enzyme, args...)
    y = one_or_all(compute(f, args, wanted(f, args)))
    return y, Pullback(f, args)
end

"What [`pullback`](@ref) returns beside the value."
struct Pullback{A<:Tuple}
    f::Enzyme
    args::A
end

Base.show(io::IO, back::Pullback) = print(io, "pullback of ", back.f)

(back::Pullback)(cotangents::Tuple) = back(cotangents...)
function (back::Pullback)(cotangents...)
    kept, inputs = lend(back.f, back.args)
    return vjp(back.f, back.args, kept, inputs, cotangents)
end

# --- forward mode and second derivatives -------------------------------------------------------------

as_tuple(x) = (x,)
as_tuple(x::Tuple) = x

tangent_places(f::Enzyme, outputs::Tuple) =
    ntuple(i -> f.outs[i].differentiable ? outputs[i] : nothing, length(outputs))

"""
    pushforward(f, x, v)
    pushforward(f, (x1, x2, ...), (v1, v2, ...))

The Jacobian of `f` at `x` applied to the tangent `v`: an array like the output, a number for a number, `nothing` for an
output of integers; a tuple where there are several. `nothing` among the tangents is zero.
"""
function pushforward(f::Enzyme, x, v)
    kept, inputs = lend(f, as_tuple(x))
    kept_tangents, tangents = shadows(f, as_tuple(v), f.ins, "tangents")
    places = GC.@preserve kept tangent_places(f, output_places(f, inputs))
    results = packed(map(p -> slot(p, f.row_major), places))
    GC.@preserve kept kept_tangents places derive(f, LIBRARY.jvp, inputs, tangents, results, UInt32(0))
    return one_or_all(places)
end

"""
    hvp(f, x, v; cotangent = 1)
    hvp(f, (x1, x2, ...), (v1, v2, ...); cotangent)

The Hessian of `f` at `x` applied to `v`: the change of `gradient(f, x)` along `v`; a tuple where `x` is one. For a
function that does not return one number, the change of `back(cotangent)` along `v`, with the cotangent (a tuple where
there are several outputs) held fixed. `nothing` among the tangents is zero.
"""
function hvp(f::Enzyme, x, v; cotangent = nothing)
    cotangent === nothing && one_number(f)
    args = as_tuple(x)
    kept, inputs = lend(f, args)
    kept_cotangents, cotangents = shadows(f, cotangent === nothing ? (1.0,) : as_tuple(cotangent), f.outs, "cotangents")
    kept_tangents, tangents = shadows(f, as_tuple(v), f.ins, "tangents")
    places = gradient_places(args, kept, f.ins, 1)
    results = packed(map(p -> slot(p, f.row_major), places))
    error = Ref(C_NULL)
    status = GC.@preserve f kept kept_cotangents kept_tangents places inputs cotangents tangents results (uninterrupted() do
        ccall(
            LIBRARY.hvp, Cint,
            (
                UInt64, Ptr{CArray}, Csize_t, Ptr{CArray}, Csize_t, Ptr{CArray}, Csize_t, Ptr{CArray}, Csize_t, UInt32,
                Ptr{Ptr{Cvoid}},
            ),
            f.handle.id, pointer_of(inputs), count_of(inputs), pointer_of(cotangents), count_of(cotangents),
            pointer_of(tangents), count_of(tangents), pointer_of(results), count_of(results), 0, error,
        )
    end)
    warn_of(f)
    check(status, error)
    gradients = map(taken, places)
    return x isa Tuple ? gradients : gradients[1]
end
