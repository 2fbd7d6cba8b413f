@testset "derivatives" begin
    A, x, w = rand(4, 3), rand(4), rand(3)

    @testset "pullback gives a gradient an input, as often as asked" begin
        y, back = pullback(matvec(), A, x)
        @test y ≈ A'x
        for scale in (1, 2)
            dA, dx = back(scale * w)
            @test dA ≈ scale * x * w' && dx ≈ scale * A * w
        end
        @test all(iszero, back(nothing)[1])
    end

    @testset "what is constant has none" begin
        y, back = pullback(matvec(), Const(A), x)
        dA, dx = back(w)
        @test dA === nothing && dx ≈ A * w
        gather = enzyme(joinpath(CASES, "loops", "gather.c"), "gather_square", "x[n], index[m] -> y[m]")
        y, back = pullback(gather, [1.0, 2.0, 3.0], [0, 2, 2])
        @test y == [1, 9, 9] && back([1.0, 1.0, 1.0]) == ([2.0, 0.0, 12.0], nothing)
    end

    @testset "gradient of one number, also by numbers" begin
        price = enzyme(joinpath(CASES, "signatures", "scalars_only.c"), "call_price", "spot, strike, rate, sigma, years -> return")
        at = (1.1, 1.0, 0.03, 0.4, 1.5)
        slopes = gradient(price, at...)
        for i in 1:5
            h = 1e-6
            up, down = (price(ntuple(j -> at[j] + (i == j ? s * h : 0), 5)...) for s in (1, -1))
            @test slopes[i] isa Float64 && isapprox(slopes[i], (up - down) / 2h; rtol = 1e-7)
        end
        @test thrown(() -> gradient(cube(), [1.0])) isa FFGrad.SignatureError
    end

    @testset "cotangents may have any strides" begin
        y, back = pullback(matvec(), A, x)
        reference = back(w)
        @test back(view([w w]', 1, :)) == reference
        @test back(view(repeat(w; inner = 2), 1:2:6)) == reference
        _, back = pullback(cube(), [1.0, 2.0])
        @test back(2.0:2.0:4.0)[1] == [6.0, 48.0]
    end

    @testset "pushforward" begin
        dA, dx = rand(4, 3), rand(4)
        @test pushforward(matvec(), (A, x), (dA, dx)) ≈ dA'x + A'dx
        @test pushforward(matvec(), (A, x), (nothing, dx)) ≈ A'dx
        @test pushforward(cube(), [2.0], [1.0]) == [12.0]
    end

    @testset "loops over steps report what their reverse sweep did" begin
        text = "#include <math.h>\nvoid settle(double* u, int n) { for (int i = 0; i < n; i++) u[i] += 0.1 * sin(u[i]); }\n"
        settle = compiled(text, "settle", "u[n] -> u[n]"; repeat = "t", sizes = (t = 100,), snapshots = 5)
        @test FFGrad.checkpointing(settle) === nothing
        u, h = [0.3, 1.0], 1e-6
        y, back = pullback(settle, u)
        @test back([1.0, 0.0])[1] ≈ [(settle([0.3 + h, 1.0])[1] - settle([0.3 - h, 1.0])[1]) / 2h, 0] rtol = 1e-6
        report = FFGrad.checkpointing(settle)
        @test (report["steps"], report["snapshots"], report["forward"]) == (100, 5, 316)
    end

    @testset "Hessian-vector products" begin
        valley = enzyme(joinpath(@__DIR__, "..", "..", "examples", "c", "valley.c"), "valley", "x[n] -> return")
        point, v, h = [-1.2, 1.0, 0.5], [1.0, -2.0, 0.5], 1e-6
        slope(s) = gradient(valley, point + s * h * v)[1]
        @test hvp(valley, point, v) ≈ (slope(1) - slope(-1)) / 2h rtol = 1e-6
        @test hvp(cube(), [1.0, 2.0], [1.0, 1.0]; cotangent = [1.0, 10.0]) ≈ [6.0, 120.0]
        second = hvp(matvec(), (A, x), (nothing, x); cotangent = w)
        @test second[1] ≈ x * w' && all(iszero, second[2])
    end

    @testset "several outputs, some of them numbers or integers" begin
        statistics = enzyme(joinpath(CASES, "signatures", "several_outputs.c"), "statistics", "x[n], y[n] -> outer[n,n], total, product[n]")
        a, b = rand(3), rand(3)
        (outer, total, product), back = pullback(statistics, a, b)
        @test product ≈ a .* b && total ≈ sum(abs2, a .* b) && outer' ≈ a * (b .^ 2)'
        da, db = back(nothing, 1.0, nothing)
        @test da ≈ 2a .* b .^ 2 && db ≈ 2b .* a .^ 2
        @test back((nothing, nothing, ones(3))) == (b, a)
        tangents = pushforward(statistics, (a, b), (ones(3), nothing))
        @test tangents[2] isa Float64 && tangents[3] ≈ b
        source = "#include <stdint.h>\nvoid positive(const double* x, int n, double* y, int64_t* count) { *count = 0; for (int i = 0; i < n; i++) { y[i] = x[i] > 0 ? x[i] * x[i] : 0; *count += x[i] > 0; } }"
        positive = compiled(source, "positive", "x[n] -> y[n], count")
        (squares, count), back = pullback(positive, [1.0, -2.0, 3.0])
        @test squares == [1, 0, 9] && count === Int64(2)
        @test back(ones(3), nothing) == ([2.0, 0.0, 6.0],)
        @test pushforward(positive, [1.0, -2.0, 3.0], ones(3)) == ([2.0, 0.0, 6.0], nothing)
    end
end
