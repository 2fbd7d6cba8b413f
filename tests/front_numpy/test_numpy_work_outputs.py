"""Outputs that are their own work variables: written, read back, partly or never overwritten; right without a check, too."""

from __future__ import annotations

import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write

# Bodies of `void f(const double *x, int n, int m, double *y)`.
BODIES = {
    "product": "for (int i = 0; i < n; i++) { y[i] = 1; for (int k = 0; k < m; k++) y[i] = y[i] * x[i] + 0.5 / y[i]; }",
    "root": """for (int i = 0; i < n; i++) {
      double e;
      y[i] = 1;
      do { e = y[i] * y[i] * y[i] - x[i]; y[i] -= e / (3 * y[i] * y[i]); } while (fabs(e) > 1e-13);
    }""",
    "paths": """for (int i = 0; i < n; i++) {
      if (x[i] > 1) y[i] = x[i]; else y[i] = x[i] * x[i];
      if (y[i] > 0.5) y[i] *= y[i];
    }""",
    "scan": """memcpy(y, x, n * sizeof(double));
    for (int s = 1; s < n; s *= 2)
      for (int i = n - 1; i >= s; i--) y[i] += 0.3 * y[i - s] * y[i];""",
    "rounds": """for (int i = 0; i < n; i++) y[i] = 0;
    for (int k = 0; k < m; k++)
      for (int i = 0; i < n; i++) { y[i] += x[(i + k) % n] * cos(y[i]); if (y[i] > 2) break; }""",
}


@pytest.mark.parametrize("name", BODIES)
def test_gradients_are_those_of_differences(write: Write, name: str) -> None:
    """At several sizes, with loops that do not run at all among them."""
    head = "#include <math.h>\n#include <string.h>\nvoid f(const double *x, int n, int m, double *y) "
    f = enzyme(write(f"{head}{{ {BODIES[name]} }}"), "f", "x[n], m -> y[n]", verify="off")
    draw = np.random.default_rng(2)
    for n, m in ((1, 0), (4, 0), (5, 1), (6, 3)):
        x, v, t = draw.uniform(0.2, 1.6, n), draw.normal(size=n), draw.normal(size=n)
        slope = v @ (f(x + 1e-6 * t, m) - f(x - 1e-6 * t, m)) / 2e-6
        assert np.isclose(f.vjp(x, m)[1](v)[0] @ t, slope, rtol=1e-5, atol=1e-7)
        assert np.isclose(v @ f.jvp((x, m), (t, None))[1], slope, rtol=1e-5, atol=1e-7)
