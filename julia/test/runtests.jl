# The tests of FFGrad.jl. `make test-julia` sets what they need:
#
#   FFGRAD_LIBRARY   libffgrad, if it is not the one built in this clone
#   FFGRAD_FIXTURE   the conformance table as JSON, made by fixture.py
#   FFGRAD_ONLY      names of cases, to run only those of the table

using FFGrad
using Test

const CASES = normpath(joinpath(@__DIR__, "..", "..", "tests", "cases"))
const GOLDENS = normpath(joinpath(@__DIR__, "..", "..", "tests", "goldens"))
const PROGRAMS = joinpath(@__DIR__, "programs")

"What `f()` throws."
function thrown(f)
    try
        f()
    catch error
        return error
    end
    return nothing
end

"Compiles a source given as text."
function compiled(text, name, signature; suffix = ".c", options...)
    path = joinpath(mktempdir(), name * suffix)
    write(path, text)
    return enzyme(path, name, signature; options...)
end

const CUBE = "void cube(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i]; }\n"
cube() = enzyme_once("cube", () -> compiled(CUBE, "cube", "x[n] -> y[n]"))
matvec() = enzyme_once("matvec", () -> enzyme(joinpath(CASES, "loops", "matvec.c"), "matvec", "A[m,n], x[n] -> y[m]"))
const OPENED = Dict{String,Any}()
enzyme_once(name, open) = get!(open, OPENED, name)

@testset "FFGrad" begin
    include("json.jl")
    include("calls.jl")
    include("derivatives.jl")
    include("annotated.jl")
    include("errors.jl")
    include("threads.jl")
    include("interrupts.jl")
    include("examples.jl")
    include("documents.jl")
    if haskey(ENV, "FFGRAD_FIXTURE")
        include("conformance.jl")
    else
        @warn "the conformance table is skipped: set FFGRAD_FIXTURE (`make test-julia` does)"
    end
end
