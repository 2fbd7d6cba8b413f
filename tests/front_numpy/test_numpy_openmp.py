"""OpenMP where NumPy is the only front end: nothing else has started a runtime before the first gradient."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fixtures import RunPython, Write

LARGEST = """
double largest(const double *x, int n) {
  double v = -1e300;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
#pragma omp critical
    if (x[i] > v) v = x[i];
  }
  return v;
}
"""


@pytest.mark.parametrize("threads", [0, 1])
def test_a_gradient_may_be_the_first_that_a_process_asks_of_openmp(
    run_python: RunPython, write: Write, threads: int
) -> None:
    """Of a critical section, which is reversed by one thread: its locks are not those of the runtime."""
    run = run_python(f"""
import warnings
import numpy as np
from ffgrad.numpy import enzyme
warnings.simplefilter("ignore")
f = enzyme({str(write(LARGEST))!r}, "largest", "x[n] -> return", flags=["-fopenmp"], threads={threads})
print(f.grad(np.array([1.0, 3.0, 2.0])).tolist(), f(np.array([1.0, 3.0, 2.0])))
""")
    assert run.stdout.split("\n")[0] == "[0.0, 1.0, 0.0] 3.0"


SHARED = """
double shared(const double *x, const double *table, int n, int m) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) sum += x[i] * x[i] * table[j];
  return sum;
}
"""


def test_one_thread_has_a_derivative_without_atomic_additions(cache: Path, run_python: RunPython, write: Write) -> None:
    """It is the serial one; several threads keep theirs."""
    program = f"""
import numpy as np
from ffgrad.numpy import enzyme
x, table = np.arange(1.0, 5.0), np.array([0.5, 2.0])
for threads in (1, 2):
    f = enzyme({str(write(SHARED))!r}, "shared", "x[n], table[m] -> return", flags=["-fopenmp"], threads=threads)
    print(*(part.tolist() for part in f.vjp(x, table)[1](1.0)))
"""
    assert run_python(program).stdout.splitlines() == ["[5.0, 10.0, 15.0, 20.0] [30.0, 30.0]"] * 2
    derivatives = [path.read_text() for path in cache.rglob("final.ll")]
    assert sorted("atomicrmw fadd" in text for text in derivatives) == [False, True]
