#!/usr/bin/env bash
# bench_mpi.sh [RANKS..]: the gradient of one MPI program on 1 and 2 ranks, or as many as are named; left out where there is no MPI.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

if ! bin=$(scripts/mpi.sh); then
    say "bench-parallel: MPI is left out"
    exit
fi
export PATH=$bin:$PATH OMP_NUM_THREADS=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
printf '%-12s %6s %12s %12s\n' program ranks "function ms" "gradient ms"
[ $# -gt 0 ] || set -- 1 2
for ranks in "$@"; do
    mpiexec -n "$ranks" "$PYTHON_BIN/python" -W ignore benches/ranks.py "$ranks"
done
