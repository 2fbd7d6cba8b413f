"""Indices sorted by values that the comparison finds through a static variable: `qsort` gives its comparison nothing else in C.

The closed form: in the sum of (rank + 1) x[i], the derivative by x[i] is its rank plus one.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from ffgrad.errors import GradientWarning
from ffgrad.numpy import enzyme

SOURCE = r"""
#include <stdlib.h>
static const double *keys;
static double scale;
static int by_key(const void *a, const void *b) {
  double d = keys[*(const int *)a] - keys[*(const int *)b];
  return (d > 0) - (d < 0);
}
static int by_scaled(const void *a, const void *b) {
  double d = scale * (*(const double *)a - *(const double *)b);
  return (d > 0) - (d < 0);
}
double ranked(const double *x, int n) {
  int *order = malloc(n * sizeof(int));
  for (int i = 0; i < n; i++) order[i] = i;
  keys = x;
  qsort(order, n, sizeof(int), by_key);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (i + 1) * x[order[i]];
  free(order);
  return sum;
}
double descending(const double *x, int n) {
  double *y = malloc(n * sizeof(double)), sum = 0;
  for (int i = 0; i < n; i++) y[i] = x[i];
  scale = -1;
  qsort(y, n, sizeof(double), by_scaled);
  for (int i = 0; i < n; i++) sum += (i + 1) * y[i];
  free(y);
  return sum;
}
"""


@pytest.mark.parametrize(("name", "sign"), [("ranked", 1), ("descending", -1)])
def test_a_comparison_that_reads_a_static_variable(name: str, sign: int, tmp_path: Path) -> None:
    source = tmp_path / "sorts.c"
    source.write_text(SOURCE)
    f = enzyme(source, name, "x[n] -> return")
    with warnings.catch_warnings():
        warnings.simplefilter("error", GradientWarning)
        for seed in range(3):
            x = np.random.default_rng(seed).standard_normal(9)
            ranks = np.argsort(np.argsort(sign * x)) + 1.0
            assert np.array_equal(f.grad(x), ranks)
            assert f.jvp((x,), (np.ones(9),))[1] == pytest.approx(45.0)
