# The code blocks of docs/julia.md run, in order, in an empty folder with the sources that the page shows; what they claim holds.
@testset "document" begin
    page = replace(read(normpath(joinpath(@__DIR__, "..", "..", "docs", "julia.md")), String), "\r\n" => "\n")
    blocks = [(String(m[1]), String(m[2])) for m in eachmatch(r"^```(\w+)\n(.*?)^```$"ms, page)]
    reader = Module(:Reader)
    results = cd(mktempdir()) do
        for (language, text) in blocks
            named = match(r"^// (\S+\.c)\n", text)
            named === nothing || write(named[1], text)
        end
        [include_string(reader, text) for (language, text) in blocks if language == "julia"]
    end
    @test length(results) == 2
    @test Base.invokelatest(() -> (reader.y, reader.dx, reader.dy)) == ([1.0, 8.0], [6.0, 24.0], zeros(2))
    @test results[2] === true
    @test Core.eval(reader, :(g(A, x) ≈ A' * x))
end
