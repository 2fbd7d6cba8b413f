#!/usr/bin/env bash
# gpu.sh [ARGUMENT..]: everything that needs an NVIDIA GPU, in one go: the tests of CUDA kernels, none of them skipped, the
# example, the benchmark (arguments go to it). The report is written to benches/results/DATE-cuda-DEVICE.md, failures too; the
# benchmark's figures are in the same folder.
#
# In a clone that is built it runs the clone, with the compilers. On a machine with PyTorch and a GPU and nothing else, neither
# clang nor a package registry, it runs from target/gpu-kit.tar.gz, which `gpu.sh pack` makes on another machine.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

# A cache identifies sources by their path, so the kit is unpacked to the path where it was made.
KIT=/tmp/ffgrad-gpu-kit
ARCHIVE=target/gpu-kit.tar.gz

# pack: the package without its tools, what it runs, and a cache with all of it.
pack() {
    make build >/dev/null
    "$BIN/ffgrad" toolchain install cuda >/dev/null
    rm -rf "$KIT"
    mkdir -p "$KIT/site" "$KIT/benches" "$KIT/examples"
    cp -r py/python/ffgrad "$KIT/site/"
    rm -rf "$KIT/site/ffgrad/bin"
    strip --strip-unneeded "$KIT/site/ffgrad/_native.abi3.so"
    "$PYTHON_BIN/python" tests/support/gpu_kit.py copy "$KIT/site" pytest pytest-timeout pluggy iniconfig packaging pygments
    cp -r examples/cuda_diffusion "$KIT/examples/"
    cp benches/{cuda_kernels,warp_kernels}.py "$KIT/benches/"
    mkdir -p "$KIT/tests/cuda"
    cp tests/conftest.py "$KIT/tests/"
    cp tests/cuda/{conftest,test_cuda_gpu}.py "$KIT/tests/cuda/"
    cp -r tests/cases tests/support "$KIT/tests/"
    cp pytest.ini "$KIT/"
    find "$KIT" -name __pycache__ -type d -prune -exec rm -rf {} +
    say "filling the kit's cache"
    FFGRAD_CACHE_DIR=$KIT/cache PYTHONPATH=$KIT/site:$KIT/tests MPLBACKEND=Agg FFGRAD_WORKER=$BIN/ffgrad-llvm \
        "$PYTHON_BIN/python" "$KIT/tests/support/gpu_kit.py" fill "$KIT" >"$KIT/fill.log" || { tail -5 "$KIT/fill.log" >&2; exit 1; }
    # Stages of builds are for reading, not for calling.
    find "$KIT/cache" -path '*/ptx-*' \( -name '*.ll' -o -name '*.bc' -o -name '*.cu' \) -delete
    git rev-parse --short HEAD >"$KIT/revision"
    mkdir -p target
    tar -C "$(dirname "$KIT")" -czf "$ARCHIVE" "$(basename "$KIT")"
    say "packed: $ARCHIVE ($(du -h "$ARCHIVE" | cut -f1)); carry it to $ARCHIVE of a clone on the machine with the GPU"
}

if [ "${1:-}" = pack ]; then
    pack
    exit
fi

# What is missing, all at once.
missing=()
if [ -x "$PYTHON_BIN/python" ] && [ -x "$BIN/ffgrad" ]; then
    python=$PYTHON_BIN/python
    mode=clone
else
    python=${FFGRAD_PYTHON:-python3}
    mode=kit
    [ -f "$ARCHIVE" ] || [ -d "$KIT" ] || missing+=("the kit $ARCHIVE: 'scripts/gpu.sh pack' makes it on a machine that can build; or 'make build' here")
    [ "$(uname -m)" = x86_64 ] || missing+=("an x86-64 machine: the kit is made for those")
fi
command -v "$python" >/dev/null 2>&1 || missing+=("Python: FFGRAD_PYTHON names one, else python3")
for module in torch numpy; do
    "$python" -c "import $module" 2>/dev/null || missing+=("$module for $python")
done
device=$("$python" -c 'import torch; print(torch.cuda.get_device_name() if torch.cuda.is_available() else "")' 2>/dev/null || true)
[ -n "$device" ] || missing+=("a GPU that PyTorch can use: nvidia-smi says whether there is a driver and a device")
if [ "${#missing[@]}" -gt 0 ]; then
    die "this machine cannot run what needs a GPU; missing:" "${missing[@]}" "Without a GPU, make test-cuda tests all but the launches."
fi

day=$(date -u +%F)
name=$day-cuda-$(tr '[:upper:] ' '[:lower:]-' <<<"$device")
report=$ROOT/benches/results/$name.md
mkdir -p "${report%/*}"
status=0
# section TITLE COMMAND..: its output, into the report too; what fails does not keep the rest from running.
section() {
    say "$1"
    printf '\n## %s\n\n    $ %s\n' "$1" "${*:2}" >>"$report"
    local outcome=0
    "${@:2}" >"$report.part" 2>&1 || outcome=$?
    cat "$report.part" >&2
    tail -n 150 "$report.part" | sed 's/^/    /' >>"$report"
    rm -f "$report.part"
    printf '\nExit status %s.\n' "$outcome" >>"$report"
    [ "$outcome" = 0 ] || status=1
}

# The kit's own: what runs from it may be another revision than the clone's.
if [ "$mode" = kit ]; then
    revision=$(tar -xzOf "$ARCHIVE" "${KIT##*/}/revision" 2>/dev/null || cat "$KIT/revision" 2>/dev/null || echo unknown)
else
    revision=$(git rev-parse --short HEAD)
fi
{
    printf '# CUDA kernels on a GPU: %s, %s\n\n' "$device" "$day"
    printf 'Written by `make gpu`, at revision %s, from the %s. PyTorch %s.\n' "$revision" "$mode" \
        "$("$python" -c 'import torch; print(torch.__version__)')"
} >"$report"
if command -v nvidia-smi >/dev/null 2>&1; then
    section "Device" nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
fi

export MPLBACKEND=Agg
if [ "$mode" = clone ]; then
    "$BIN/ffgrad" toolchain install cuda >/dev/null
    section "Tests" scripts/test.sh cuda -rs
    section "Example" "$python" examples/cuda_diffusion/invert.py
    section "Benchmark" "$python" benches/cuda_kernels.py "$@"
else
    if [ -f "$ARCHIVE" ]; then
        rm -rf "$KIT"
        tar -C "$(dirname "$KIT")" -xzf "$ARCHIVE"
    fi
    # What the machine has of compilers must not be looked for: all is in the cache, under keys that contain these variables, which images
    # with CUDA set.
    unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH SOURCE_DATE_EPOCH
    export PYTHONPATH=$KIT/site:$KIT/tests FFGRAD_CACHE_DIR=$KIT/cache FFGRAD_TOOLS_DIR=$KIT/no-tools FFGRAD_GPU_KIT=1
    section "Tests" "$python" -m pytest -c "$KIT/pytest.ini" --rootdir "$KIT" -p support.gpu_kit -rs "$KIT/tests/cuda/test_cuda_gpu.py"
    section "Example" "$python" "$KIT/tests/support/gpu_kit.py" run "$KIT/examples/cuda_diffusion/invert.py" --out "$ROOT/examples/out"
    section "Benchmark" "$python" "$KIT/tests/support/gpu_kit.py" run "$KIT/benches/cuda_kernels.py" "$@"
    cp "$KIT"/benches/results/*.json "${report%/*}/" 2>/dev/null || true
fi
# Where a caller wants the files.
if [ -n "${OUT:-}" ] && [ -d "$OUT" ]; then
    cp "${report%.md}"* "$OUT/"
    cp examples/out/cuda_diffusion.png "$OUT/" 2>/dev/null || true
fi
say "written: $report"
exit "$status"
