"""OpenMP where NumPy is the only front end: nothing else has started a runtime before the first gradient."""

from __future__ import annotations

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
