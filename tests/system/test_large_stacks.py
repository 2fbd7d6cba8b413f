"""A derivative needs several times the stack of its function: where that fits, the derivative runs too."""

from __future__ import annotations

import pytest
from support.fixtures import RunPython, Write
from support.programs import RECURSION

SOURCE = (
    RECURSION
    + """
static double follow(const double *x, const int *next, int i, double seen) {
  if (i < 0) return seen;
  double s = x[i] * sin(seen);
  double rest = follow(x, next, next[i], 0.9 * seen + 0.1 * s);
  return rest * (1 + 1e-3 * s);
}
void walk(const double *x, const int *next, int n, int start, double *y) { y[0] = follow(x, next, start, 0.5); }
void array(const double *x, int n, int m, double *y) {
  double w[m];
  for (int k = 0; k < m; k++) w[k] = x[k % n] * x[k % n];
  for (int k = 1; k < m; k++) w[k] += 0.5 * w[k - 1];
  for (int i = 0; i < n; i++) y[i] = w[m - 1 - i];
}
"""
)

START = """
import math, resource
resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
import numpy as np
from ffgrad.numpy import enzyme

def gradient(f, x, *rest):
    y, pullback = f.vjp(x, *rest)
    return pullback(np.ones_like(y))[0]
"""

RECURSION = """
def expected(x, depth):
    steps, dx = [], 1.0
    for _ in range(depth):
        steps.append((math.sin(x) + x * math.cos(x)) * dx)
        x, dx = 0.9 * x + 0.05 * math.sin(x), (0.9 + 0.05 * math.cos(x)) * dx
    dv = dx
    for step in reversed(steps):
        dv = 0.9 * dv + step
    return dv

f = enzyme(source, "recurse", "x[n], depth -> y[n]")
x = np.array([0.3, 0.7])
for depth in (200, 60000, 90000):
    np.testing.assert_allclose(gradient(f, x, float(depth)), [expected(v, depth) for v in x], rtol=1e-9)
"""

LINKS = """
n = 90000
rng = np.random.default_rng(0)
x, t = rng.standard_normal(n), rng.standard_normal(n)
chain = np.append(np.arange(1, n), -1).astype(np.int32)

def along_t(start):
    seen, dseen, factors = 0.5, 0.0, []
    for i in range(start, n):
        s = x[i] * math.sin(seen)
        ds = t[i] * math.sin(seen) + x[i] * math.cos(seen) * dseen
        factors.append((1 + 1e-3 * s, 1e-3 * ds))
        seen, dseen = 0.9 * seen + 0.1 * s, 0.9 * dseen + 0.1 * ds
    for factor, dfactor in reversed(factors):
        seen, dseen = seen * factor, dseen * factor + seen * dfactor
    return dseen

f = enzyme(source, "walk", "x[n], next[n], start -> y[1]")
for start in (n - 300, 0):
    np.testing.assert_allclose(gradient(f, x, chain, start) @ t, along_t(start), rtol=1e-8, atol=1e-12)
"""

ARRAY = """
f = enzyme(source, "array", "x[n], m -> y[n]")
x = np.linspace(0.1, 0.9, 4)
for m in (100, 900000):
    expected = np.zeros(4)
    for i in range(4):
        for j in range(60):
            expected[(m - 1 - i - j) % 4] += 0.5**j * 2 * x[(m - 1 - i - j) % 4]
    np.testing.assert_allclose(gradient(f, x, m), expected, rtol=1e-12)
"""


@pytest.mark.parametrize("program", [RECURSION, LINKS, ARRAY], ids=["recursion", "links", "array"])
def test_a_function_that_fits_into_its_stack_has_a_derivative(program: str, run_python: RunPython, write: Write):
    run_python(START + f"source = {str(write(SOURCE))!r}\n" + program)
