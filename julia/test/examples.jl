# Each program of examples/julia, and words that it must print; one that is missing here fails.
const EXAMPLES = ["descent.jl" => "minimum after"]

@testset "examples" begin
    folder = normpath(joinpath(@__DIR__, "..", "..", "examples"))
    @test sort(readdir(joinpath(folder, "julia"))) == sort(first.(EXAMPLES))
    listed = read(joinpath(folder, "README.md"), String)
    julia, package = Base.julia_cmd(), normpath(joinpath(@__DIR__, ".."))
    for (name, words) in EXAMPLES
        @test occursin("(julia/$name)", listed)
        path = joinpath(folder, "julia", name)
        @test occursin(words, read(`$julia --startup-file=no --project=$package $path`, String))
    end
end
