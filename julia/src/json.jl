# The part of JSON that the C ABI uses; the standard library has no reader.

"Reading and writing JSON: objects are `Dict{String,Any}`, arrays `Vector{Any}`, `null` is `nothing`."
module JSON

"""
    parse(text) -> value

Throws an `ArgumentError` where `text` is not JSON.
"""
function parse(text::AbstractString)
    reader = Reader(String(text), 1)
    value = read_value(reader)
    skip_space(reader)
    reader.at > ncodeunits(reader.text) || fail(reader, "the end")
    return value
end

mutable struct Reader
    text::String
    at::Int
end

fail(r::Reader, expected) = throw(ArgumentError("not JSON: expected $expected at byte $(r.at)"))
peek(r::Reader) = r.at <= ncodeunits(r.text) ? codeunit(r.text, r.at) : 0x00

function skip_space(r::Reader)
    while peek(r) in (0x20, 0x09, 0x0a, 0x0d)
        r.at += 1
    end
end

function expect(r::Reader, token::String, value)
    last = r.at + ncodeunits(token) - 1
    last <= ncodeunits(r.text) && codeunits(r.text)[r.at:last] == codeunits(token) || fail(r, token)
    r.at = last + 1
    return value
end

function read_value(r::Reader)
    skip_space(r)
    c = peek(r)
    c == UInt8('{') && return read_object(r)
    c == UInt8('[') && return read_array(r)
    c == UInt8('"') && return read_string(r)
    c == UInt8('t') && return expect(r, "true", true)
    c == UInt8('f') && return expect(r, "false", false)
    c == UInt8('n') && return expect(r, "null", nothing)
    return read_number(r)
end

function read_items(each, r::Reader, close::Char)
    r.at += 1
    skip_space(r)
    while peek(r) != UInt8(close)
        each()
        skip_space(r)
        peek(r) == UInt8(close) && break
        peek(r) == UInt8(',') || fail(r, "`,` or `$close`")
        r.at += 1
    end
    r.at += 1
    return nothing
end

function read_object(r::Reader)
    object = Dict{String,Any}()
    read_items(r, '}') do
        skip_space(r)
        peek(r) == UInt8('"') || fail(r, "a name")
        name = read_string(r)
        skip_space(r)
        expect(r, ":", nothing)
        object[name] = read_value(r)
    end
    return object
end

function read_array(r::Reader)
    array = Any[]
    read_items(() -> push!(array, read_value(r)), r, ']')
    return array
end

const ESCAPES = Dict(
    UInt8('"') => '"', UInt8('\\') => '\\', UInt8('/') => '/', UInt8('b') => '\b',
    UInt8('f') => '\f', UInt8('n') => '\n', UInt8('r') => '\r', UInt8('t') => '\t',
)

function read_string(r::Reader)
    out = IOBuffer()
    r.at += 1
    while true
        c = peek(r)
        r.at > ncodeunits(r.text) && fail(r, "`\"`")
        r.at += 1
        if c == UInt8('"')
            return String(take!(out))
        elseif c != UInt8('\\')
            Base.write(out, c)
        elseif peek(r) == UInt8('u')
            r.at += 1
            print(out, read_escaped(r))
        else
            haskey(ESCAPES, peek(r)) || fail(r, "an escape")
            print(out, ESCAPES[peek(r)])
            r.at += 1
        end
    end
end

function read_hex(r::Reader)
    digits = r.at + 3 <= ncodeunits(r.text) ? String(codeunits(r.text)[r.at:r.at+3]) : ""
    code = tryparse(UInt32, digits; base = 16)
    code === nothing && fail(r, "four hexadecimal digits")
    r.at += 4
    return code
end

function read_escaped(r::Reader)
    code = read_hex(r)
    if 0xd800 <= code < 0xdc00 && peek(r) == UInt8('\\')
        expect(r, "\\u", nothing)
        low = read_hex(r)
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
    end
    return Char(code)
end

function read_number(r::Reader)
    first = r.at
    while peek(r) in codeunits("+-0123456789.eE")
        r.at += 1
    end
    text = SubString(r.text, first, r.at - 1)
    whole = tryparse(Int64, text)
    whole === nothing || return whole
    value = tryparse(Float64, text)
    value === nothing && fail(r, "a value")
    return value
end

"""
    write(value) -> String

Writes strings, symbols, numbers, `nothing`, dictionaries, named tuples, and anything else that iterates as an array.
"""
write(value) = sprint(put, value)

put(io::IO, ::Nothing) = print(io, "null")
put(io::IO, value::Union{Bool,Integer}) = print(io, value)
put(io::IO, value::AbstractFloat) = isfinite(value) ? print(io, value) : throw(ArgumentError("JSON has no $value"))
put(io::IO, value::Symbol) = put(io, String(value))
put(io::IO, value::NamedTuple) = put(io, pairs(value))

function put(io::IO, value::AbstractString)
    print(io, '"')
    for c in value
        if c in ('"', '\\')
            print(io, '\\', c)
        elseif c < ' '
            print(io, "\\u", string(UInt32(c); base = 16, pad = 4))
        else
            print(io, c)
        end
    end
    print(io, '"')
end

function put(io::IO, value::Union{AbstractDict,Base.Iterators.Pairs})
    separator = '{'
    for (name, item) in value
        print(io, separator)
        put(io, string(name))
        print(io, ':')
        put(io, item)
        separator = ','
    end
    print(io, separator == '{' ? "{}" : "}")
end

function put(io::IO, value)
    print(io, '[')
    for (i, item) in enumerate(value)
        i > 1 && print(io, ',')
        put(io, item)
    end
    print(io, ']')
end

end
