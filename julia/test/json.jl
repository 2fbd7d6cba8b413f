using FFGrad: JSON

@testset "JSON" begin
    @testset "what is written is read back" begin
        for value in [nothing, true, 12, -3, 1.5, 1e-300, "a \"b\" \\ \n \u20ac \U1f600", Any[1, Any[], "x"], Dict{String,Any}("a" => 1, "b" => Any[])]
            @test JSON.parse(JSON.write(value)) == value
        end
        @test JSON.write((k = 8, name = :x)) == "{\"k\":8,\"name\":\"x\"}"
        @test JSON.write(Dict()) == "{}" && JSON.write([]) == "[]"
    end
    @testset "escapes, also those of two halves" begin
        @test JSON.parse("\"\\u00e9\\ud83d\\ude00\\/\\t\"") == "é😀/\t"
        @test JSON.parse(" [ 1 , 2.0e1,{\"a\" : null} ] ") == Any[1, 20.0, Dict{String,Any}("a" => nothing)]
    end
    @testset "what is no JSON is refused" begin
        for text in ["", "{", "[1,", "[1 2]", "\"a", "nul", "{\"a\"}", "1 2", "\"\\x\"", "\"\\u12\"", "[1}", "--"]
            @test_throws ArgumentError JSON.parse(text)
        end
        @test_throws ArgumentError JSON.write(NaN)
    end
end
