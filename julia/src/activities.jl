# Enzyme.jl's annotations of arguments. Types of our own, so that nothing outside the standard library is
# needed; with EnzymeCore loaded its types are taken as well (ext/FFGradEnzymeCoreExt.jl).

"What an argument is to a derivative: `Const`, `Active`, `Duplicated` or `DuplicatedNoNeed`."
abstract type Annotation{T} end

"""
    Const(x)

An argument that gets no derivative.
"""
struct Const{T} <: Annotation{T}
    val::T
end

"""
    Active(x)

A number whose derivative is returned.
"""
struct Active{T<:Number} <: Annotation{T}
    val::T
end

"""
    Duplicated(x, dx)

An array with its shadow. Of an input the derivative is *added to* `dx`; of an output `dx` is the cotangent, which is
used up: it is zero after the call. `dx` has the type and shape of `x`.
"""
struct Duplicated{T} <: Annotation{T}
    val::T
    dval::T
    Duplicated{T}(x, dx) where {T} = new{T}(congruent(x, dx)...)
end
Duplicated(x::T, dx::T) where {T} = Duplicated{T}(x, dx)

"""
    DuplicatedNoNeed(x, dx)

As [`Duplicated`](@ref), but the value of an output is not needed: it is not computed and its memory not touched.
"""
struct DuplicatedNoNeed{T} <: Annotation{T}
    val::T
    dval::T
    DuplicatedNoNeed{T}(x, dx) where {T} = new{T}(congruent(x, dx)...)
end
DuplicatedNoNeed(x::T, dx::T) where {T} = DuplicatedNoNeed{T}(x, dx)

congruent(x, dx) = (x, dx)
function congruent(x::AbstractArray, dx::AbstractArray)
    size(x) == size(dx) && return (x, dx)
    sides = (string(size(x)), string(size(dx)))
    text = "the shadow of an array has another shape\n  expected $(sides[1])\n  found    $(sides[2])"
    throw(ShapeError(text; code = "shadow-shape", expected = sides[1], found = sides[2]))
end

value(x) = x
value(x::Annotation) = x.val
