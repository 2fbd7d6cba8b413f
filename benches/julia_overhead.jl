# The cost of a call at n = 16: FFGrad.jl beside a raw `ccall` of the same function, compiled by the machine's C compiler.
#
#     make bench-julia        # or: julia --project=julia benches/julia_overhead.jl [FILE.json]
#
# Each figure is the median over batches of the mean within a batch; the raw call is measured in the same run.

using FFGrad
using FFGrad: JSON
using Libdl

const N = 16
const SOURCE = """
void cube(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i];
}
"""

"Nanoseconds a call of `f`."
function nanoseconds(f; batches = 200, calls = 1000)
    f()
    times = map(1:batches) do _
        start = time_ns()
        for _ in 1:calls
            f()
        end
        (time_ns() - start) / calls
    end
    return sort!(times)[cld(batches, 2)]
end

"What `f` allocates a call, in bytes."
function allocated(f; calls = 1000)
    f()
    return (@allocated for _ in 1:calls
        f()
    end) / calls
end

function main(output)
    folder = mktempdir()
    source, library = joinpath(folder, "cube.c"), joinpath(folder, "cube." * Libdl.dlext)
    write(source, SOURCE)
    run(`cc -O3 -march=native -fPIC -shared -o $library $source`)
    raw = Libdl.dlsym(Libdl.dlopen(library), :cube)
    f = enzyme(source, "cube", "x[n] -> y[n]")
    f! = inplace(f)

    x, y, dx, dy = rand(N), zeros(N), zeros(N), ones(N)
    _, back = pullback(f, x)
    back(dy)
    wanted = DuplicatedNoNeed(y, dy)
    rows = [
        ("raw ccall" => () -> ccall(raw, Cvoid, (Ptr{Float64}, Cint, Ptr{Float64}), x, N, y)),
        ("f!(y, x)" => () -> f!(y, x)),
        ("f(x)" => () -> f(x)),
        ("y, back = pullback(f, x)" => () -> pullback(f, x)),
        ("back(dy)" => () -> back(dy)),
        ("pushforward(f, x, v)" => () -> pushforward(f, x, dy)),
        ("f(Duplicated(x, dx), DuplicatedNoNeed(y, dy))" => () -> f(Duplicated(x, dx), wanted)),
    ]
    println("Julia $VERSION, n = $N, nanoseconds (bytes allocated) a call")
    figures = map(rows) do (name, call)
        time, bytes = nanoseconds(call), allocated(call)
        println("  ", rpad(name, 48), lpad(round(Int, time), 8), lpad("($(round(Int, bytes)))", 8))
        (name = name, nanoseconds = time, bytes = bytes)
    end
    output === nothing || write(output, JSON.write(figures))
end

main(get(ARGS, 1, nothing))
