# An argument of Julia's as an array of the C ABI, without a copy where its memory allows.
#
# | argument | passed as | copies |
# |---|---|---|
# | `Array` and other dense arrays | its memory | none |
# | strided views, permuted dimensions | its memory and strides | one, by the library |
# | other arrays (ranges, `BitArray`, ...) | an `Array` made from it | one, here |
# | number, for a scalar parameter | its bits in the parameter's type | |
#
# Order of dimensions: arrays are passed in place, as with `ccall`. For a row-major source (C, C++) `x[m,n]` therefore takes
# an array with `size(x) == (n, m)`; for a column-major one (Fortran) one with `size(x) == (m, n)`.

# One parameter of the foreign function, from the library's description.
struct Parameter
    name::String
    role::Symbol            # :input, :output, :inout, :scratch, :size, :return
    dtype::Cint
    rank::Int               # -1: any
    differentiable::Bool
    input::Int              # position among the inputs, or 0
    output::Int             # position among the outputs, or 0
end

"""
What an argument needs beside its own memory is packed into one block for the call: `payload` gives its part, as a tuple
of `Int64`; `carray` the array, given the part's address.
"""
abstract type Slot end

struct ArraySlot{N} <: Slot
    data::Ptr{Cvoid}
    dtype::Cint
    dense::Bool
    dims::NTuple{N,Int64}
    strides::NTuple{N,Int64}
end

# A number of the parameter's type, or one of the ABI's number types.
struct ScalarSlot <: Slot
    dtype::Cint
    bits::UInt64
end

struct NoSlot <: Slot end

payload(slot::ArraySlot) = (slot.dims, slot.strides)
payload(slot::ScalarSlot) = slot.bits
payload(::NoSlot) = ()

payload_bytes(::ArraySlot{N}) where {N} = 16N
payload_bytes(::ScalarSlot) = 8
payload_bytes(::NoSlot) = 0

function carray(slot::ArraySlot{N}, at::Ptr{Cvoid}) where {N}
    strides = slot.dense ? C_NULL : at + 8N
    return CArray(slot.data, slot.dtype, N, Ptr{Int64}(at), Ptr{Int64}(strides))
end
carray(slot::ScalarSlot, at::Ptr{Cvoid}) = CArray(at, slot.dtype, 0, C_NULL, C_NULL)
carray(::NoSlot, ::Ptr{Cvoid}) = CArray(C_NULL, 0, 0, C_NULL, C_NULL)

carrays(::Tuple{}, ::Ptr{Cvoid}) = ()
carrays(slots::Tuple, at::Ptr{Cvoid}) =
    (carray(slots[1], at), carrays(Base.tail(slots), at + payload_bytes(slots[1]))...)

"Memory that the library's pointers lead to; alive as long as this is preserved."
struct Packed{P,A}
    payload::P
    arrays::A
end

# Not inlined: what pointers lead to must not be taken for a value that needs no memory.
@noinline function packed(slots::Tuple)
    payloads = Ref(map(payload, slots))
    at = Ptr{Cvoid}(Base.unsafe_convert(Ptr{eltype(payloads)}, payloads))
    return Packed(payloads, Ref(carrays(slots, at)))
end

pointer_of(p::Packed) = Ptr{CArray}(Base.unsafe_convert(Ptr{eltype(p.arrays)}, p.arrays))
count_of(p::Packed) = length(p.arrays[])

# --- arrays -------------------------------------------------------------------------------------------

const Element = Union{DTYPES...}
const Strided{T} = Union{StridedArray{T},PermutedDimsArray{T,<:Any,<:Any,<:Any,<:StridedArray{T}}}

"What is passed in place of `x`: itself, if its memory can be."
held(x::Number, ::Parameter) = x
held(x::Strided{<:Element}, ::Parameter) = x
held(x::Base.RefValue{<:Element}, ::Parameter) = x
held(x::Annotation, p::Parameter) = held(x.val, p)
held(x::AbstractArray{T}, p::Parameter) where {T} = T <: Element ? Array(x) : foreign_eltype(p, T)
held(x, p::Parameter) = throw(DtypeError("`$(p.name)` must be an array or a number, not $(typeof(x))"; code = "dtype"))

@noinline function foreign_eltype(p::Parameter, T)
    expected = "float32, float64, an integer type or bool"
    text = "`$(p.name)` has an element type that no foreign parameter has\n  expected $expected\n  found    $T"
    throw(DtypeError(text; code = "dtype", expected = expected, found = string(T)))
end

is_dense(::DenseArray) = true
is_dense(x::AbstractArray) = false

# A view of a whole array, or of its last columns, is contiguous like an array.
function is_dense(x::SubArray)
    stride = 1
    for d in 1:ndims(x)
        size(x, d) == 1 || Base.stride(x, d) == stride || return false
        stride *= size(x, d)
    end
    return true
end

function slot(x::AbstractArray{T,N}, row_major::Bool) where {T,N}
    data = Ptr{Cvoid}(pointer(x))
    dense = is_dense(x)
    dims = map(Int64, size(x))
    steps = dense && (row_major || N < 2) ? dims : map(Int64, strides(x))
    row_major || return ArraySlot{N}(data, dtype_code(T), dense && N < 2, dims, steps)
    return ArraySlot{N}(data, dtype_code(T), dense, reverse(dims), reverse(steps))
end

slot(x::Base.RefValue{T}, ::Bool) where {T} =
    ArraySlot{0}(Ptr{Cvoid}(Base.unsafe_convert(Ptr{T}, x)), dtype_code(T), true, (), ())

slot(::Nothing, ::Bool) = NoSlot()

# --- numbers ------------------------------------------------------------------------------------------

bits(x::Float64) = reinterpret(UInt64, x)
bits(x::Float32) = UInt64(reinterpret(UInt32, x))
bits(x::Signed) = reinterpret(UInt64, Int64(x))
bits(x::Union{Unsigned,Bool}) = UInt64(x)

"The slot of an input: of a number, in the parameter's type."
slot(x::Union{AbstractArray,Base.RefValue}, ::Parameter, row_major::Bool) = slot(x, row_major)
function slot(x::Number, p::Parameter, ::Bool)
    p.rank == 0 || return as_number(x, p)
    p.dtype == dtype_code(Float64) && x isa Real && return ScalarSlot(p.dtype, bits(Float64(x)))
    p.dtype == dtype_code(Float32) && x isa Real && return ScalarSlot(p.dtype, bits(Float32(x)))
    return as_number(x, p)
end

# The library decides whether the number fits, and says so if not.
as_number(x::Bool, ::Parameter) = ScalarSlot(NUMBER_BOOL, UInt64(x))
as_number(x::AbstractFloat, ::Parameter) = ScalarSlot(NUMBER_FLOAT, bits(Float64(x)))
function as_number(x::Integer, p::Parameter)
    typemin(Int64) <= x <= typemax(Int64) && return ScalarSlot(NUMBER_INT, bits(Int64(x)))
    throw(DtypeError("`$(p.name)` cannot hold $x"; code = "value-range", found = string(x)))
end
as_number(x::Number, p::Parameter) = foreign_eltype(p, typeof(x))

"The number whose bits the library wrote."
function from_bits(bits::UInt64, dtype::Cint)
    dtype == dtype_code(Float64) && return reinterpret(Float64, bits)
    dtype == dtype_code(Float32) && return reinterpret(Float32, bits % UInt32)
    T = DTYPES[dtype]
    return T === Bool ? bits % UInt8 != 0 : bits % T
end

"Room for one number of any type."
struct NumberPlace
    dtype::Cint
    bits::Base.RefValue{UInt64}
end
NumberPlace(dtype::Cint) = NumberPlace(dtype, Ref(UInt64(0)))

slot(place::NumberPlace, ::Bool) =
    ArraySlot{0}(Ptr{Cvoid}(Base.unsafe_convert(Ptr{UInt64}, place.bits)), place.dtype, true, (), ())

"What a place holds after the call, for the user."
taken(place::NumberPlace) = from_bits(place.bits[], place.dtype)
taken(place::Union{AbstractArray,Base.RefValue,Nothing}) = place
