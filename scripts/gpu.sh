#!/usr/bin/env bash
# gpu.sh: everything that needs an NVIDIA GPU, in one go: the tests of CUDA kernels, none of them skipped for want of one, the example,
# the benchmark. What was found is written to benches/results/DATE-cuda-DEVICE.md, failures too; the benchmark's
# figures lie beside it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

device=$("$PYTHON_BIN/python" -c 'import torch; print(torch.cuda.get_device_name() if torch.cuda.is_available() else "")')
[ -n "$device" ] || die "PyTorch finds no GPU here" "nvidia-smi says whether there is a driver and a device." \
    "Without one, make test-cuda tests all but the launches."
"$BIN/ffgrad" toolchain install cuda >/dev/null

day=$(date -u +%F)
report=benches/results/$day-cuda-$(tr '[:upper:] ' '[:lower:]-' <<<"$device").md
status=0
# section TITLE COMMAND..: its output, into the report too; what fails does not keep the rest from running.
section() {
    say "$1"
    printf '\n## %s\n\n    $ %s\n' "$1" "${*:2}" >>"$report"
    local outcome=0
    "${@:2}" 2>&1 | tee >(tail -n 60 | sed 's/^/    /' >>"$report.part") || outcome=$?
    # The copy is written by a process of its own.
    sleep 1
    cat "$report.part" >>"$report"
    rm -f "$report.part"
    printf '\nExit status %s.\n' "$outcome" >>"$report"
    [ "$outcome" = 0 ] || status=1
}

{
    printf '# CUDA kernels on a GPU: %s, %s\n\n' "$device" "$day"
    printf 'Written by `make gpu`, at revision %s.\n' "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
} >"$report"
section "Device" nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
section "Tests" scripts/test.sh cuda -rs
section "Example" env MPLBACKEND=Agg "$PYTHON_BIN/python" examples/cuda_diffusion/invert.py
section "Benchmark" "$PYTHON_BIN/python" benches/cuda_kernels.py "$@"
say "written: $report"
exit "$status"
