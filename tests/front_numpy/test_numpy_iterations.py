"""Iterations that are reversed one by one: several calls of one, results that are used later, both branches; first and second derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write

# `cells` is inlined wherever it is called, so that there are several loops with such iterations; seven of them may be unrolled.
SOURCE = """
static void cells(const double *x, double *y, int n) {
  for (int e = 0; e < n; e++) {
    double a[4], b[4];
    for (int k = 0; k < 4; k++) a[k] = x[4 * e + k] * x[4 * e + (k + 1) % 4];
    for (int k = 0; k < 4; k++) b[k] = a[k] * a[(k + 1) % 4] - 0.2 * a[(k + 2) % 4];
    for (int k = 0; k < 4; k++) a[k] = b[k] * b[(k + 1) % 4] * a[k];
    for (int k = 0; k < 4; k++) y[4 * e + k] = a[k] * b[(k + 3) % 4] * a[(k + 1) % 4];
  }
}
void twice(const double *x, int m, double *y) {
  double z[400];
  cells(x, z, 7);
  for (int i = 0; i < m; i++) z[i] = 0.5 * z[i] + x[i];
  cells(z, y, 7);
}
void either(const double *x, int m, double *y) {
  cells(x, y, m / 4);
  if (x[0] > 0)
    for (int i = 0; i < m; i++) y[i] *= x[i];
  else
    cells(x, y, m / 8);
}
void used(const double *x, int m, double *y) {
  double sum = 0;
  cells(x, y, m / 4);
  for (int i = 0; i < m; i++) sum += y[i] * y[i];
  for (int i = 0; i < m; i++) y[i] *= sum;
}
"""


@pytest.mark.parametrize("options", [{}, {"pipeline": "inlined", "verify": "off"}])
@pytest.mark.parametrize("name", ["twice", "either", "used"])
def test_gradients_and_their_derivatives_are_those_of_differences(
    write: Write, name: str, options: dict[str, Any]
) -> None:
    """Also without a check, so that none stands in for the pass."""
    f = enzyme(write(SOURCE), name, "x[m] -> y[m]", **options)
    draw = np.random.default_rng(1)
    for sign in (-1, 1):
        x, v, t = sign * draw.uniform(0.3, 1.2, 28), draw.normal(size=28), draw.normal(size=28)

        def gradient(x: np.ndarray, v: np.ndarray = v) -> np.ndarray:
            return f.vjp(x)[1](v)[0]

        h = 1e-6
        moved = v @ (f(x + h * t) - f(x - h * t)) / (2 * h)
        assert np.isclose(gradient(x) @ t, moved, rtol=1e-6)
        changed = (gradient(x + h * t) - gradient(x - h * t)) / (2 * h)
        found = np.asarray(f.hvp((x,), (t,), v)).reshape(-1)
        assert np.allclose(found, changed, rtol=1e-5, atol=1e-6 * np.abs(changed).max())
