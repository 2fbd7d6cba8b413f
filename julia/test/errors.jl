"An exception as a user reads it, with what differs from machine to machine taken out."
function shown(error)
    text = sprint(showerror, error) * "\n"
    text = replace(text, joinpath(CASES, "negative") => "<negative>")
    return replace(text, r"/staging/[\w-]+/" => "/staging/<build>/")
end

"The text is the same as in Python, by the goldens of its tests."
function same_as_python(golden, error)
    path = joinpath(GOLDENS, golden * ".txt")
    shown(error) == read(path, String) && return true
    @error "another text than $golden.txt" text = shown(error)
    return false
end

negative(file, name, signature = nothing) = enzyme(joinpath(CASES, "negative", file), name, signature)

@testset "errors" begin
    @testset "of opening" begin
        error = thrown(() -> negative("syntax_error.c", "scale"))
        @test error isa FFGrad.CompileError && error.code == "syntax" && error.line == 4
        @test basename(error.file) == "syntax_error.c" && occursin("expected ';'", error.output)
        @test same_as_python("syntax_error", error)
        @test same_as_python("missing_header", thrown(() -> negative("missing_header.c", "scale")))
        @test same_as_python("no_such_function", thrown(() -> negative("typo.c", "simualte")))
        @test same_as_python("ambiguous", thrown(() -> negative("ambiguous.cpp", "ns::f")))
        error = thrown(() -> negative("unsupported_param.c", "predict"))
        @test error isa FFGrad.SignatureError && !isempty(error.problems) && error.hints === nothing
        error = thrown(() -> compiled(CUBE, "cube", "x[n] -> y[n]"; verfy = "off"))
        @test error isa FFGrad.MisuseError && occursin("unknown field `verfy`, expected one of `flags`", error.message)
    end

    @testset "of calls" begin
        error = thrown(() -> cube()(ones(Float32, 3)))
        @test error isa FFGrad.DtypeError && error.code == "dtype" && error.found == "float32" && !isempty(error.hints)
        @test same_as_python("wrong_dtype", error)
        @test same_as_python("number_for_array", thrown(() -> cube()(1.0)))
        @test same_as_python("wrong_rank", thrown(() -> cube()(ones(2, 3))))
        pair = compiled("void pair(const double* a, const double* b, int n, double* y) { for (int i = 0; i < n; i++) y[i] = a[i] * b[i]; }", "pair", "a[n], b[n] -> y[n]")
        error = thrown(() -> pair(ones(3), ones(4)))
        @test error isa FFGrad.ShapeError && error.argument == "b"
        @test same_as_python("shape_contradiction", error)
        @test same_as_python("arity_1", thrown(() -> pair(ones(3))))
        @test same_as_python("arity_3", thrown(() -> pair(ones(3), ones(3), ones(3))))
        power = compiled("void power(const double* x, int n, int k, double* y) { for (int i = 0; i < n; i++) { y[i] = 1; for (int j = 0; j < k; j++) y[i] *= x[i]; } }", "power", "x[n], k -> y[n]")
        @test power([2.0], 3) == [8.0]
        @test same_as_python("float_for_integer", thrown(() -> power([2.0], 1.5)))
        @test same_as_python("integer_too_large", thrown(() -> power([2.0], 2^40)))
        @test thrown(() -> power([2.0], big(2)^70)) isa FFGrad.DtypeError
        for wrong in (ComplexF64[1], Float16[1], ["a"], nothing, "text")
            @test thrown(() -> cube()(wrong)) isa FFGrad.DtypeError
        end
        @test occursin("found    Complex{Float64}", shown(thrown(() -> cube()(Complex{Float64}[1])))) || VERSION >= v"1.6"
    end

    @testset "of results and shadows" begin
        @test thrown(() -> inplace(cube())(zeros(4), ones(3))) isa FFGrad.ShapeError
        @test thrown(() -> inplace(cube())(zeros(Float32, 3), ones(3))) isa FFGrad.DtypeError
        @test thrown(() -> inplace(cube())(1:3, ones(3))) isa FFGrad.DtypeError
        @test thrown(() -> inplace(cube())((zeros(3), zeros(3)), ones(3))) isa FFGrad.SignatureError
        y, back = pullback(cube(), ones(3))
        @test thrown(() -> back(ones(4))) isa FFGrad.Error
        @test thrown(() -> back(ones(Float32, 3))) isa FFGrad.DtypeError
        @test thrown(() -> back(ones(3), ones(3))) isa FFGrad.SignatureError
    end

    @testset "of the foreign code, and where there is no derivative" begin
        log_density = negative("throwing.cpp", "log_density", "x[n] -> y[n]")
        @test log_density([1.0]) == [0.0]
        @test same_as_python("throwing", thrown(() -> log_density([-1.0])))
        simulate = negative("missing_body.c", "simulate", "table[3], x[n] -> y[n]")
        error = thrown(() -> pullback(simulate, ones(3), ones(4)))
        @test error isa FFGrad.DifferentiationError && error.code == "missing-derivative"
        @test same_as_python("missing_body_gradient", error)
    end

    @testset "a library of another version, or none" begin
        julia, package = Base.julia_cmd(), normpath(joinpath(@__DIR__, ".."))
        script = "using FFGrad; try FFGrad.library() catch e; showerror(stdout, e) end"
        command = `$julia --startup-file=no --project=$package -e $script`
        said = withenv(() -> read(command, String), "FFGRAD_LIBRARY" => "/no/such/libffgrad.so")
        @test occursin("/no/such/libffgrad.so", said)
    end
end
