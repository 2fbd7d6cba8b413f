# libffgrad and its C ABI (ffgrad.h): where it is, its types, and a call that raises a status as an exception.

const ABI_VERSION = 1
const ACCUMULATE = UInt32(1)
const INTERRUPTED = Cint(13)

# ffgrad_array
struct CArray
    data::Ptr{Cvoid}
    dtype::Cint
    ndim::Cint
    shape::Ptr{Int64}
    strides::Ptr{Int64}
end

# ffgrad_shape
struct CShape
    dtype::Cint
    ndim::Cint
    dims::NTuple{32,Int64}
end

# ffgrad_copies
struct CCopies
    gathered::UInt64
    in_place::UInt64
    cotangents::UInt64
end

const DTYPES = (Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Bool)
const NUMBER_FLOAT, NUMBER_INT, NUMBER_BOOL = Cint(101), Cint(102), Cint(103)

for (code, T) in enumerate(DTYPES)
    @eval dtype_code(::Type{$T}) = $(Cint(code))
end
dtype_code(::Type) = Cint(0)

# The entry points of the library, once it is loaded.
mutable struct Library
    handle::Ptr{Cvoid}
    path::String
    open::Ptr{Cvoid}
    close::Ptr{Cvoid}
    describe::Ptr{Cvoid}
    take_warnings::Ptr{Cvoid}
    checkpointing::Ptr{Cvoid}
    output_shapes::Ptr{Cvoid}
    sizes::Ptr{Cvoid}
    call::Ptr{Cvoid}
    vjp::Ptr{Cvoid}
    jvp::Ptr{Cvoid}
    hvp::Ptr{Cvoid}
    copied::Ptr{Cvoid}
    error_message::Ptr{Cvoid}
    error_details::Ptr{Cvoid}
    error_free::Ptr{Cvoid}
    free_text::Ptr{Cvoid}
    on_interrupt::Ptr{Cvoid}
    Library() = new(C_NULL, "", ntuple(_ -> C_NULL, 17)...)
end

const LIBRARY = Library()
const LOADING = ReentrantLock()

"""
    FFGrad.library() -> path

The path of `libffgrad`, loaded if need be: the one that the environment variable `FFGRAD_LIBRARY` names, the one built
in the clone that contains this package, or one that the system's loader finds.
"""
function library()
    LIBRARY.handle == C_NULL && lock(load, LOADING)
    return LIBRARY.path
end

# Asked by the library during a build, on the thread of the call: whether Ctrl-C was pressed. Nothing may be thrown through the
# library's frames, so calls of it run with Ctrl-C deferred (`uninterrupted`); only here it may arrive, and is caught.
function asked()::Cint
    try
        reenable_sigint(() -> nothing)
        return 0
    catch
        return 1
    end
end

"Runs a call of the library; its status `INTERRUPTED` reports Ctrl-C, which does not jump out of it."
uninterrupted(call) = disable_sigint(call)

function load()
    LIBRARY.handle == C_NULL || return
    name = "libffgrad." * Libdl.dlext
    built = normpath(joinpath(@__DIR__, "..", "..", "target", "release", name))
    path = get(ENV, "FFGRAD_LIBRARY", "")
    isempty(path) && (path = isfile(built) ? built : Libdl.find_library(["libffgrad"]))
    if isempty(path)
        text = "libffgrad was not found: not at $built, nor by the system's loader\n" *
               "  Build it (`cargo build --release -p ffgrad-capi` in a clone of ffgrad), or set FFGRAD_LIBRARY to its path."
        throw(ToolchainError(text; code = "no-library"))
    end
    handle = Libdl.dlopen(path, Libdl.RTLD_NOW | Libdl.RTLD_LOCAL)
    version = ccall(Libdl.dlsym(handle, :ffgrad_abi_version), UInt32, ())
    if version != ABI_VERSION
        text = "$path has version $version of the C ABI, this package needs $ABI_VERSION\n  Install the two together."
        throw(ToolchainError(text; code = "abi-version", expected = "$ABI_VERSION", found = "$version"))
    end
    LIBRARY.path = path
    for field in fieldnames(Library)[3:end]
        setfield!(LIBRARY, field, Libdl.dlsym(handle, Symbol("ffgrad_", field)))
    end
    ccall(LIBRARY.on_interrupt, Cvoid, (Ptr{Cvoid},), @cfunction(asked, Cint, ()))
    LIBRARY.handle = handle
    return
end

"Throws the exception for a status, with the text and details of the library's error, which is freed."
@noinline function refuse(status::Cint, error::Ptr{Cvoid})
    message = unsafe_string(ccall(LIBRARY.error_message, Ptr{UInt8}, (Ptr{Cvoid},), error))
    details = unsafe_string(ccall(LIBRARY.error_details, Ptr{UInt8}, (Ptr{Cvoid},), error))
    ccall(LIBRARY.error_free, Cvoid, (Ptr{Cvoid},), error)
    status == INTERRUPTED && throw(InterruptException())
    kind = 1 <= status <= length(KINDS) ? KINDS[status] : InternalError
    throw(kind(message, JSON.parse(details)))
end

check(status::Cint, error::Ref{Ptr{Cvoid}}) = status == 0 ? nothing : refuse(status, error[])

"Takes over a text of the library's."
function taken(text::Ptr{UInt8})
    copy = unsafe_string(text)
    ccall(LIBRARY.free_text, Cvoid, (Ptr{UInt8},), text)
    return copy
end

"""
    FFGrad.copies() -> (gathered, in_place, cotangents)

Bytes copied by this process so far: `gathered` are arguments that were not contiguous and results for memory that is
not; `in_place` arguments that the foreign code updates, and the arguments of checks; `cotangents` shadows that the
reverse mode consumes.
"""
function copies()
    library()
    now = Ref(CCopies(0, 0, 0))
    ccall(LIBRARY.copied, Cint, (Ptr{CCopies},), now)
    return (gathered = Int(now[].gathered), in_place = Int(now[].in_place), cotangents = Int(now[].cotangents))
end
