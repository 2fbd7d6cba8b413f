@testset "calls" begin
    A, x = rand(4, 3), rand(4)

    @testset "a row-major source sees the dimensions reversed" begin
        f = matvec()
        @test f(A, x) ≈ A'x
        @test f(A, x) isa Vector{Float64}
        @test f.inputs == ["A", "x"] && f.outputs == ["y"]
        @test repr(f) == "enzyme(matvec: A[m,n], x[n] -> y[m])"
        @test startswith(f.prototype, "void matvec(const double *A")
    end

    @testset "arrays are passed in place, in and out" begin
        f = enzyme(joinpath(PROGRAMS, "addresses.c"), "addresses", "x[n], A[m,n] -> y[n], at[3]")
        y, at = zeros(4), zeros(Int64, 3)
        before = FFGrad.copies()
        inplace(f)((y, at), x, A)
        @test at == [Int64(UInt(pointer(array))) for array in (x, A, y)]
        @test y ≈ x .* A[:, end]
        # A view of whole columns is contiguous like an array.
        _, at = f(x, view(A, :, 2:3))
        @test at[2] == Int64(UInt(pointer(A, 5)))
        @test FFGrad.copies() == before
    end

    @testset "a function is mapped over the last dimensions where its signature says `...`" begin
        f = enzyme(joinpath(CASES, "loops", "matvec.c"), "matvec", "A[m,n], x[...,n] -> y[...,m]"; threads = 2)
        xs, v = rand(4, 5, 2), rand(3, 5, 2)
        y, back = pullback(f, A, xs)
        @test size(y) == (3, 5, 2)
        @test y[:, 4, 2] ≈ A' * xs[:, 4, 2]
        dA, dxs = back(v)
        @test dxs[:, 2, 1] ≈ A * v[:, 2, 1]
        @test dA ≈ reshape(xs, 4, 10) * reshape(v, 3, 10)'
        @test_throws FFGrad.ShapeError f(A, rand(3, 5))
    end

    @testset "strided views are copied once" begin
        big, long = rand(9, 8), rand(8)
        inputs = (view(big, 2:2:8, 1:3), view(long, 8:-2:2))
        before = FFGrad.copies().gathered
        @test matvec()(inputs...) ≈ inputs[1]' * inputs[2]
        @test FFGrad.copies().gathered - before == 8 * (12 + 4)
        @test matvec()(PermutedDimsArray(copy(A'), (2, 1)), x) ≈ A'x
        @test matvec()(A, view(hcat(x, x)', 1, :)) ≈ A'x
    end

    @testset "other arrays become one" begin
        @test matvec()(A, 1.0:4.0) ≈ A' * (1:4)
        @test matvec()(A', collect(1.0:3.0)) ≈ A * (1:3)
    end

    @testset "a result in place, also with gaps, also over the input" begin
        f! = inplace(cube())
        y = zeros(3)
        @test f!(y, [1.0, 2.0, 3.0]) === y
        @test y == [1, 8, 27]
        gaps = zeros(6)
        f!(view(gaps, 1:2:5), [1.0, 2.0, 3.0])
        @test gaps == [1, 0, 8, 0, 27, 0]
        f!(y, y)
        @test y == [1, 512, 19683]
    end

    @testset "numbers for scalars, in the parameter's type, and numbers returned" begin
        step = enzyme(joinpath(CASES, "in_place", "in_place_step.c"), "step", "u[n], dt -> u[n]")
        u = [0.0, 0, 1, 0, 0]
        @test step(u, 0.25) == [0, 0.25, 0.5625, 0.140625, 0] == step(u, fill(0.25)) == step(u, 1 // 4 |> Float64)
        @test step(u, 0) == u == [0, 0, 1, 0, 0]
        inplace(step)(u, u, 0.25)
        @test u[3] == 0.5625
        sum_of = compiled("float sum_of(const float* x, int n) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }", "sum_of", "x[n] -> return")
        @test sum_of(Float32[1, 2]) === 3.0f0
        place = Ref(0.0f0)
        inplace(sum_of)(place, Float32[1, 2])
        @test place[] === 3.0f0
        masked = enzyme(joinpath(CASES, "signatures", "bool_mask.c"), "masked_energy", "x[n], mask[n] -> return")
        @test masked([1.0, 2.0, 3.0], [true, false, true]) == 10 == masked([1.0, 2.0, 3.0], BitVector([1, 0, 1]))
    end

    @testset "without a signature an array may have any number of dimensions" begin
        f = enzyme(joinpath(CASES, "signatures", "classic.c"), "f")
        z = rand(Float32, 3, 4, 2)
        @test f(z) ≈ z .* sin.(z)
        @test size(f(z)) == (3, 4, 2)
    end

    @testset "options reach the compiler" begin
        source = "void g(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = SCALE * x[i] + TWICE(1); }"
        f = compiled(source, "g", "x[n] -> y[n]"; defines = Dict("SCALE" => 3, "TWICE(k)" => "(2*(k))", "UNUSED" => true), math = :strict)
        @test f([1.0]) == [5.0]
        sized = enzyme(joinpath(CASES, "signatures", "chebyshev.c"), "chebyshev"; signature = "x[n] -> T[n,k]", sizes = (k = 4,))
        @test size(sized(rand(5))) == (4, 5)
    end

    @testset "a function that is not used is closed" begin
        id = cube().handle.id
        FFGrad.library()
        for _ in 1:20
            compiled(CUBE, "cube", "x[n] -> y[n]")
        end
        GC.gc(); GC.gc()
        @test compiled(CUBE, "cube", "x[n] -> y[n]").handle.id & 0xffffffff < 20
        @test cube()([2.0]) == [8.0]
    end
end
