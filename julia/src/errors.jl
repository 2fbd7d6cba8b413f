# The exceptions: the kinds and the texts of every front end of ffgrad.

"""
    FFGrad.Error

Anything that ffgrad refuses. The message says what happened, where in the user's source, and what to do next. What it
says in words is also there as data, as properties: `code`, `file`, `line`, `expected`, `found`, `hints`, `output` (what
a tool printed), `kept` (folder with intermediate files), for a `ShapeError` `argument`, for a `SignatureError`
`problems`, `prototype` and `suggestion`; each is `nothing` where it does not apply. `details` has all of them.
"""
abstract type Error <: Exception end

macro kinds(block)
    definitions = map(filter(line -> line isa Expr, block.args)) do line
        documentation, name = line.args
        quote
            struct $name <: Error
                message::String
                details::Dict{String,Any}
            end
            @doc $documentation $name
            $name(message::AbstractString; details...) =
                $name(message, Dict{String,Any}(String(k) => v for (k, v) in details))
        end
    end
    return esc(Expr(:block, definitions...))
end

@kinds begin
    ("The C ABI, or this package, was not used as documented.", MisuseError)
    ("A tool is missing or does not work; `ffgrad doctor` shows which.", ToolchainError)
    ("The source does not exist, compile or link, or has no such function.", CompileError)
    ("The signature does not fit the prototype, or a call has the wrong number of arguments.", SignatureError)
    ("Shapes contradict each other or the signature. They are given in the source's order of dimensions.", ShapeError)
    ("An argument has another element type than its parameter. Nothing is ever converted silently.", DtypeError)
    ("An argument is on a device that the function was not compiled for.", DeviceError)
    ("Enzyme cannot differentiate the function, or its gradient was proven wrong.", DifferentiationError)
    ("There is no memory for what a call works with, or returns.", OutOfMemoryError)
    ("The foreign function threw a C++ exception.", ForeignError)
    ("The cache folder cannot be used.", CacheError)
    ("A defect of ffgrad itself.", InternalError)
    ("A pack is damaged, is for another machine, or lacks what is asked of it.", PackError)
end

# By status, from 1; 13 is Ctrl-C, which is no kind of ours.
const KINDS = (
    MisuseError, ToolchainError, CompileError, SignatureError, ShapeError, DtypeError, DeviceError,
    DifferentiationError, ForeignError, CacheError, InternalError, PackError, InternalError, OutOfMemoryError,
)

function Base.getproperty(error::Error, name::Symbol)
    name in (:message, :details) && return getfield(error, name)
    return get(getfield(error, :details), String(name), nothing)
end

Base.propertynames(error::Error) = (:message, :details, map(Symbol, sort!(collect(keys(error.details))))...)

Base.showerror(io::IO, error::Error) = print(io, nameof(typeof(error)), ": ", error.message)
