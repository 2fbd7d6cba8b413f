# Ctrl-C during a build: an `InterruptException`, no child left, and the next build right.

"A worker that hangs the first time it has work, in a folder of its own; it says so by a file `hangs` with its process."
function hanging_worker(folder)
    path, real = joinpath(folder, "worker"), joinpath(dirname(FFGrad.library()), "ffgrad-llvm")
    write(path, """
    #!/bin/sh
    case "\$*" in *version*) exec "$real" "\$@";; esac
    if [ ! -e "$folder/hangs" ]; then
      echo \$\$ > "$folder/new"
      mv "$folder/new" "$folder/hangs"
      sleep 3000
    fi
    exec "$real" "\$@"
    """)
    chmod(path, 0o755)
    return path
end

const INTERRUPTED = """
# Without this, Ctrl-C ends a Julia program that is not interactive.
ccall(:jl_exit_on_sigint, Cvoid, (Cint,), 0)
using FFGrad
build() = enzyme(ARGS[1], "cube", "x[n] -> y[n]")
try
    build()
catch error
    println(error isa InterruptException)
end
println(build()([2.0]))
"""

"Whether something becomes true soon."
soon(holds) = timedwait(() -> holds(), 120.0; pollint = 0.05) === :ok

@testset "Ctrl-C ends a build, and the next one is right" begin
    mktempdir() do folder
        source, script = joinpath(folder, "cube.c"), joinpath(folder, "script.jl")
        write(source, CUBE)
        write(script, INTERRUPTED)
        julia = `$(Base.julia_cmd()) --startup-file=no --project=$(Base.active_project()) $script $source`
        hanging = hanging_worker(folder)
        running = open(setenv(julia, merge(ENV, Dict("FFGRAD_WORKER" => hanging, "FFGRAD_CACHE_DIR" => joinpath(folder, "cache")))))
        @test soon(() -> isfile(joinpath(folder, "hangs")) || !process_running(running))
        worker = strip(read(joinpath(folder, "hangs"), String))
        sleep(0.5)
        kill(running, Base.SIGINT)
        @test readlines(running) == ["true", "[8.0]"]
        @test soon(() -> !isdir("/proc/$worker"))
    end
end
