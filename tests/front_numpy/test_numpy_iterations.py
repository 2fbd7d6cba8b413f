"""Iterations that are reversed one by one: several calls of one, results that are used later, both branches, sums of nests, complex exponentials; first and second
derivatives.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write

ROOT = Path(__file__).resolve().parents[2]

# `cells` is inlined wherever it is called, so that there are several loops with such iterations; seven of them may be unrolled.
SOURCE = """
#include <complex.h>
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
/* What a nest of loops has summed decides the path, and is a factor later. */
void nests(const double *x, int m, double *y) {
  for (int e = 0; e < m / 4; e++) {
    double a[4][4], trace = 0, total = 0;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) a[i][j] = x[4 * e + i] * x[4 * e + j] + (i == j);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) trace += a[i][j] * a[j][(i + 1) % 4];
    if (trace > 12) trace *= 0.1 * trace;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) total += a[i][j] * x[4 * e + j] * trace;
    for (int i = 0; i < 4; i++) y[4 * e + i] = total * x[4 * e + i] + trace / total;
  }
}
/* What a complex exponential returns is used in a loop. */
void waves(const double *x, int m, double *y) {
  for (int e = 0; e < m / 4; e++) {
    double complex factor[4], sum = 0;
    for (int k = 0; k < 4; k++) factor[k] = cexp((0.1 * k + I) * x[4 * e + k]);
    for (int l = 0; l < 3; l++)
      for (int k = 0; k < 4; k++) {
        double complex turn = cexp(I * x[4 * e + l] * (k + 1)), series = 0;
        for (int n = 1; n < 10; n++) series += turn / (n + turn * factor[k]);
        sum += series * series * factor[(k + l) % 4];
      }
    for (int k = 0; k < 4; k++) y[4 * e + k] = creal(sum * factor[k]) + cimag(sum);
  }
}
"""


@pytest.mark.parametrize("options", [{}, {"pipeline": "inlined", "verify": "off"}])
@pytest.mark.parametrize("name", ["twice", "either", "used", "nests", "waves"])
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


@pytest.mark.parametrize("name", ["cells", "nests", "waves"])
def test_iterations_become_functions(write: Write, name: str) -> None:
    """Where much would be kept; where kilobytes would be kept, also though much is computed of them."""
    text = SOURCE.replace("static void cells", "void cells")
    signature = "x[m] -> y[m]" if name != "cells" else "x[4*n] -> y[4*n]"
    command = [ROOT / "target/release/ffgrad", "show", write(text), name, "-s", signature]
    command += ["--pipeline", "inlined", "--ir", "before"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "call void @ffgrad.iteration.0" in shown
