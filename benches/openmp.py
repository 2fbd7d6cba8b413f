"""How gradients of OpenMP programs scale: ``python benches/openmp.py [--threads 1,2]``.

Three loops: one with cheap iterations over large arrays (memory decides, and the reverse adds atomically), one with expensive iterations, and that in Fortran. For
each number of threads the median time of the function and of its gradient, beside the same source compiled without OpenMP.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import torch
from ffgrad import ToolchainError
from ffgrad.torch import Enzyme, enzyme

SOURCE = """
#include <math.h>
void cheap(const double *x, int n, double *y) {
#pragma omp parallel for num_threads(TEAM)
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i] + 1 / (1 + x[i] * x[i]);
}
double expensive(const double *x, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 16) num_threads(TEAM)
  for (int i = 0; i < n; i++) {
    double v = x[i];
    for (int k = 0; k < 200; k++) v = v + 0.01 * sin(v) * exp(-v * v);
    sum += v;
  }
  return sum;
}
"""

# The same in Fortran.
FORTRAN = """
real(8) function costly(x, n) result(total)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8) :: v
  integer :: i, k
  total = 0
  !$omp parallel do private(v, k) reduction(+ : total) schedule(dynamic, 16) num_threads(TEAM)
  do i = 1, n
    v = x(i)
    do k = 1, 200
      v = v + 0.01d0 * sin(v) * exp(-v * v)
    end do
    total = total + v
  end do
end function
"""


def median(call: object, rounds: int) -> float:
    """Return the median time of a call in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()  # type: ignore[operator]
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def measure(operation: Enzyme, x: torch.Tensor, rounds: int) -> tuple[float, float]:
    """Return the times of the function and of its value with gradient."""

    def gradient() -> None:
        torch.autograd.grad(operation.apply(x).sum(), x)

    gradient()
    with torch.no_grad():
        function = median(lambda: operation.apply(x), rounds)
    return function, median(gradient, rounds)


def main() -> None:
    """Print a row for each loop and number of threads."""
    parser = argparse.ArgumentParser(description=__doc__)
    cores = os.cpu_count() or 1
    parser.add_argument("--threads", default=",".join(str(t) for t in (1, 2, 4, 8, 16) if t <= cores))
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        source, fortran = Path(folder) / "loops.c", Path(folder) / "loops.F90"
        source.write_text(SOURCE)
        fortran.write_text(FORTRAN)
        print(f"{'loop':<10} {'threads':>8} {'function ms':>12} {'gradient ms':>12}")
        loops: list[tuple[str, Path, str, str, int]] = [
            ("cheap", source, "cheap", "x[n] -> y[n]", 4_000_000),
            ("expensive", source, "expensive", "x[n] -> return", 20_000),
            ("Fortran", fortran, "costly", "x[n] -> return", 20_000),
        ]
        for label, file, name, signature, n in loops:
            x = torch.rand(n, dtype=torch.float64, requires_grad=True)
            variants = {"no omp": []} | {t: ["-fopenmp", f"-DTEAM={t}"] for t in arguments.threads.split(",")}
            try:
                rows = [(count, enzyme(file, name, signature, flags=flags)) for count, flags in variants.items()]
            except ToolchainError as missing:
                print(f"{label}: left out: {str(missing).splitlines()[0]}")
                continue
            for count, operation in rows:
                forward, backward = measure(operation, x, arguments.rounds)
                print(f"{label:<10} {count:>8} {forward:>12.2f} {backward:>12.2f}", flush=True)


if __name__ == "__main__":
    main()
