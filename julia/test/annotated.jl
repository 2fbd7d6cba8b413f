@testset "annotated calls" begin
    A, x, w = rand(4, 3), rand(4), rand(3)
    f = matvec()

    @testset "dx is added to, y is written, dy is used up" begin
        dx, y, dy = ones(4), zeros(3), copy(w)
        @test f(A, Duplicated(x, dx), 3, 4, Duplicated(y, dy)) == (nothing, nothing, nothing, nothing, nothing)
        @test dx ≈ 1 .+ A * w && y ≈ A'x && dy == zeros(3)
        # Sizes may be left out; a value that is not needed is not computed.
        dA, dy, y = ones(4, 3), copy(w), fill(7.0, 3)
        f(Duplicated(A, dA), Const(x), DuplicatedNoNeed(y, dy))
        @test dA ≈ 1 .+ x * w' && y == [7, 7, 7] && dy == zeros(3)
    end

    @testset "the same shadow twice is added to twice" begin
        pair = compiled("void pair(const double* a, const double* b, int n, double* y) { for (int i = 0; i < n; i++) y[i] = a[i] * b[i]; }", "pair", "a[n], b[n] -> y[n]")
        v, dv = [2.0, 3.0], [0.0, 0.0]
        pair(Duplicated(v, dv), Duplicated(v, dv), DuplicatedNoNeed(zeros(2), ones(2)))
        @test dv == 2v
    end

    @testset "in place: the shadow goes from the result's to the input's" begin
        step = enzyme(joinpath(CASES, "in_place", "in_place_step.c"), "step", "u[n], dt -> u[n]")
        u, du = rand(5), rand(5)
        y, back = pullback(step, copy(u), 0.1)
        expected = back(copy(du))
        slopes = step(Duplicated(u, du), Active(0.1))
        @test du ≈ expected[1] && u == y
        @test slopes[1] === nothing && slopes[2] ≈ expected[2]
        place, dplace = Ref(0.1), Ref(1.0)
        u, du = copy(y), ones(5)
        step(Duplicated(u, du), Duplicated(place, dplace), Const(5))
        @test dplace[] ≈ 1 + pullback(step, y, 0.1)[2](ones(5))[2] && place[] == 0.1
    end

    @testset "the value of a function has the cotangent `seed`" begin
        valley = enzyme(joinpath(@__DIR__, "..", "..", "examples", "c", "valley.c"), "valley", "x[n] -> return")
        point = [-1.2, 1.0, 0.5]
        dpoint = zeros(3)
        valley(Duplicated(point, dpoint), 3; seed = 2.0)
        @test dpoint == 2 .* gradient(valley, point)[1]
    end

    @testset "strided shadows" begin
        shadow, dy = zeros(8), copy(w)
        f(A, Duplicated(view(collect(x), 1:4), view(shadow, 1:4)), DuplicatedNoNeed(zeros(3), dy))
        @test shadow[1:4] ≈ A * w
        twice = repeat(x; inner = 2)
        f(A, Duplicated(view(twice, 1:2:8), view(shadow, 1:2:8)), DuplicatedNoNeed(zeros(3), copy(w)))
        @test shadow ≈ [A * w; zeros(4)] + [A * w zeros(4)]'[:]
    end

    @testset "what does not fit is refused, and no shadow changes" begin
        dx, y, dy = ones(4), zeros(3), copy(w)
        @test thrown(() -> f(A, Duplicated(x, dx), 3, 5, Duplicated(y, dy))) isa FFGrad.ShapeError
        @test thrown(() -> f(A, Duplicated(x, dx), Duplicated(y, dy), 1)) isa FFGrad.SignatureError
        @test thrown(() -> f(A, Active(1.0), Duplicated(y, dy))) isa FFGrad.SignatureError
        @test thrown(() -> f(A, Duplicated(x, dx), Duplicated(3, 3), 4, Duplicated(y, dy))) isa FFGrad.SignatureError
        @test thrown(() -> f(A, Duplicated(x, dx), Duplicated(zeros(2), zeros(2)))) isa FFGrad.Error
        @test thrown(() -> Duplicated(zeros(2), zeros(3))) isa FFGrad.ShapeError
        @test thrown(() -> f(A, Duplicated(1.0:4.0, 1.0:4.0), Duplicated(y, dy))) isa FFGrad.DtypeError
        @test thrown(() -> f(A, Duplicated(x, dx), zeros(2))) isa FFGrad.ShapeError
        @test dx == ones(4) && dy == w && y == zeros(3)
    end
end
