"""How the gradient of an MPI program scales: ``mpiexec -n N python benches/ranks.py``, what ``scripts/bench_mpi.sh`` starts.

Each rank has its part of one vector and computes with it at length; the sum of all comes by MPI_Allreduce. Rank 0 prints the median
times of the function and of its gradient, in C and, where flang is, in Fortran.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import torch
from ffgrad import ToolchainError
from ffgrad.torch import enzyme
from openmp import measure

C = """
#include <math.h>
#include <mpi.h>
double worked(const double *x, int n) {
  double mine = 0, all = 0;
  for (int i = 0; i < n; i++) {
    double v = x[i];
    for (int k = 0; k < 200; k++) v = v + 0.01 * sin(v) * exp(-v * v);
    mine += v;
  }
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
double rank_of(const double *x, int n) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank + 0 * x[0] * n;
}
"""

FORTRAN = """
real(8) function worked(x, n)
  implicit none
  include 'mpif.h'
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8) :: mine, all, v
  integer :: i, k, error
  mine = 0
  do i = 1, n
    v = x(i)
    do k = 1, 200
      v = v + 0.01d0 * sin(v) * exp(-v * v)
    end do
    mine = mine + v
  end do
  call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  worked = all
end function
"""


def main(ranks: int, total: int = 20_000) -> None:
    """Print a row for each language."""
    torch.set_num_threads(1)
    first = False
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("mpi C", C), ("mpi Fortran", FORTRAN)):
            source = Path(folder) / ("worked.c" if text is C else "worked.f90")
            source.write_text(text)
            x = torch.linspace(0, 1, total // ranks, dtype=torch.float64).requires_grad_()
            try:
                times = measure(enzyme(source, "worked", "x[n] -> return", mpi=True), x, 15)
            except ToolchainError as missing:
                print(f"{name}: {str(missing).splitlines()[0]}", file=sys.stderr)
                continue
            if text is C:
                first = int(enzyme(source, "rank_of", "x[n] -> return", mpi=True).apply(x.detach())) == 0
            if first:
                print(f"{name:<12} {ranks:>6} {times[0]:>12.2f} {times[1]:>12.2f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
