@testset "threads" begin
    Threads.nthreads() > 1 || @warn "one thread only: set JULIA_NUM_THREADS"

    @testset "one function, many threads, garbage collected meanwhile" begin
        f = matvec()
        wrong = Threads.Atomic{Int}(0)
        Threads.@threads for i in 1:400
            A, x, w = fill(Float64(i), 4, 3), [1.0, 2.0, 3.0, i], [1.0, 10.0, 100.0]
            y, back = pullback(f, A, x)
            dA, dx = back(w)
            right = y ≈ A'x && dA ≈ x * w' && dx ≈ A * w && pushforward(f, (A, x), (nothing, x)) ≈ y
            right || Threads.atomic_add!(wrong, 1)
            i % 50 == 0 && GC.gc(false)
        end
        @test wrong[] == 0
    end

    @testset "opening and building at once" begin
        source = "void bump(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] / (1 + x[i] * x[i] + SHIFT); }"
        wrong = Threads.Atomic{Int}(0)
        Threads.@threads for i in 1:4
            f = compiled(source, "bump", "x[n] -> y[n]"; defines = (SHIFT = i % 2,))
            slope = pullback(f, [2.0])[2]([1.0])[1][1]
            a = 1.0 + i % 2
            slope ≈ (a - 4) / (a + 4)^2 || Threads.atomic_add!(wrong, 1)
        end
        @test wrong[] == 0
    end

    @testset "errors in threads are the thread's own" begin
        f = cube()
        kinds = Vector{Any}(undef, 100)
        Threads.@threads for i in 1:100
            kinds[i] = typeof(thrown(() -> iseven(i) ? f(ones(Float32, 2)) : f(ones(2, 2))))
        end
        @test all(kinds[2:2:100] .== FFGrad.DtypeError) && all(kinds[1:2:99] .== FFGrad.ShapeError)
    end
end
