#!/usr/bin/env bash
# test.sh rust|torch|numpy|system|cuda|fortran|real|tf|jax|julia|wheel [ARGUMENT..]: one suite; arguments go to cargo test or pytest, or
# are names of cases of the conformance table.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

suite=$1
shift
start=$SECONDS
# An empty cache: artifacts of an older driver must not replace those of this one. The parts of `make test` share one,
# which it has emptied: the conformance table is built once, not for each front end.
if [ "$suite" != rust ] && [ -n "${FFGRAD_TEST_CACHE:-}" ]; then
    export FFGRAD_CACHE_DIR=$FFGRAD_TEST_CACHE
else
    export FFGRAD_CACHE_DIR=$ROOT/target/test-cache/$suite
    rm -rf "$FFGRAD_CACHE_DIR"
fi

# The conformance table has OpenMP programs.
[ "$suite" = rust ] || scripts/openmp.sh

case $suite in
rust)
    with_llvm
    # Make's job server is not for cargo, which would say that it cannot reach it.
    unset MAKEFLAGS MFLAGS
    LD_LIBRARY_PATH=$(llvm_library_path "$FFGRAD_LLVM_LIB_DIR")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
        FFGRAD_WORKER=$BIN/ffgrad-llvm cargo test --workspace --quiet "$@"
    ;;
torch)
    # torch's C++ extensions, used for comparison, look for ninja on PATH.
    PATH=$PYTHON_BIN:$PATH "$PYTHON_BIN/python" -m pytest -o testpaths=tests/front_torch "$@"
    ;;
numpy)
    "$PYTHON_BIN/python" -m pytest -o testpaths=tests/front_numpy "$@"
    ;;
system)
    PATH=$PYTHON_BIN:$PATH "$PYTHON_BIN/python" -m pytest -o testpaths=tests/system "$@"
    ;;
cuda)
    "$BIN/ffgrad" toolchain install cuda >/dev/null || [[ ${FFGRAD_REQUIRE:-} != *cuda* ]]
    "$PYTHON_BIN/python" -m pytest tests/cuda --ignore tests/cuda/fake_gpu "$@"
    # In a process of its own: it loads a driver made for tests.
    "$PYTHON_BIN/python" -m pytest tests/cuda/fake_gpu
    # What a GPU's tests will ask for, and their own code.
    if ! command -v nvidia-smi >/dev/null 2>&1; then
        PYTHONPATH=tests:tests/cuda/fake_gpu "$PYTHON_BIN/python" -m pytest -p rehearsal tests/cuda/test_cuda_gpu.py
    fi
    ;;
wheel)
    # pytest itself, in the environment that has auditwheel; no fixture of the other suites, which import the clone's package.
    .venv-release/bin/python -m pytest --confcutdir tests/wheel tests/wheel "$@"
    ;;
fortran)
    "$BIN/ffgrad" toolchain install fortran >/dev/null
    # The same checks as the other table's; then what is about Fortran alone.
    FFGRAD_CASES=fortran "$PYTHON_BIN/python" -m pytest tests/front_torch/test_conformance.py "$@"
    "$PYTHON_BIN/python" -m pytest -o testpaths=tests/fortran "$@"
    ;;
real)
    # Where some libraries cannot be had, their programs are skipped.
    FFGRAD_REAL_ROOT=$(scripts/real.sh) || FFGRAD_REAL_ROOT=/
    export FFGRAD_REAL_ROOT
    "$PYTHON_BIN/python" -m pytest -o testpaths=tests/real "$@"
    ;;
tf)
    # Not a word about the CPU and the GPU that is not there; MPLBACKEND for the example's plot.
    TF_CPP_MIN_LOG_LEVEL=2 MPLBACKEND=Agg .venv-tf/bin/python -m pytest -o testpaths=tests/front_tf "$@"
    ;;
jax)
    MPLBACKEND=Agg .venv-jax/bin/python -m pytest -o testpaths=tests/front_jax "$@"
    ;;
julia)
    status=0
    julia=$(scripts/julia.sh) || status=$?
    if [ "$status" = 3 ] && [[ ${FFGRAD_REQUIRE:-} != *julia* ]]; then
        say "test-julia: skipped, there is no Julia (see above)"
        exit
    fi
    [ "$status" = 0 ] || die "there is no Julia to test with"
    fixture=$ROOT/target/test-cache/conformance.json
    mkdir -p "${fixture%/*}"
    "$PYTHON_BIN/python" julia/test/fixture.py "$fixture"
    # What a user's start-up files and environments bring is not what is tested.
    FFGRAD_LIBRARY=$(ls "$BIN"/libffgrad.{so,dylib} 2>/dev/null) FFGRAD_FIXTURE=$fixture FFGRAD_ONLY="$*" \
        JULIA_NUM_THREADS=4 JULIA_DEPOT_PATH=$ROOT/target/julia-depot \
        "$julia" --startup-file=no --project=julia julia/test/runtests.jl
    ;;
*) die "unknown suite $suite" "Suites: rust, torch, cuda, fortran, real, tf, jax, julia, wheel." ;;
esac
say "test-$suite: passed in $((SECONDS - start)) s"
