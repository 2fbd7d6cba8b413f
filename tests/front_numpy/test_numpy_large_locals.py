"""Local arrays of thousands of elements: right gradients, by a build that takes no longer than that of small ones."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from ffgrad.numpy import enzyme

N = 50

PROGRAMS = {
    "a vector": """
double f(const double *x, int n) {
  double w[20000], s = 0;
  for (int i = 0; i < n; i++) w[i] = x[i] * x[i];
  for (int i = 0; i < n; i++) s += sin(w[i]);
  return s;
}
""",
    "a vector that is added to": """
double f(const double *x, int n) {
  double w[20000] = {0}, s = 0;
  for (int i = 0; i < n; i++) w[(i * 7) % 20000] += x[i] * x[i];
  for (int i = 0; i < 20000; i++) s += sin(w[i]);
  return s;
}
""",
    "a grid": """
double f(const double *x, int n) {
  double w[200][100], s = 0;
  for (int i = 0; i < 200; i++) for (int j = 0; j < 100; j++) w[i][j] = x[(i + j) % n];
  for (int i = 1; i < 199; i++)
    for (int j = 1; j < 99; j++) s += w[i][j] * (w[i - 1][j] + w[i + 1][j] + w[i][j - 1] + w[i][j + 1]);
  return s * 1e-3;
}
""",
    "single precision": """
double f(const double *x, int n) {
  float w[30000];
  double s = 0;
  for (int i = 0; i < 30000; i++) w[i] = (float)(i % 10);
  for (int i = 0; i < n; i++) s += w[i] * x[i] * x[i];
  return s;
}
""",
    "integers": """
double f(const double *x, int n) {
  int at[30000];
  double s = 0;
  for (int i = 0; i < 30000; i++) at[i] = (7 * i + 3) % n;
  for (int i = 0; i < n; i++) s += x[at[at[i]]] * x[i] * x[i];
  return s;
}
""",
    "a structure of arrays": """
struct cells { double density[5000]; float weight[5000]; int next[5000]; };
double f(const double *x, int n) {
  struct cells c;
  double s = 0;
  for (int i = 0; i < 5000; i++) {
    c.density[i] = x[i % n] * x[i % n];
    c.weight[i] = (float)(1 + i % 3);
    c.next[i] = (i + 1) % 5000;
  }
  for (int i = 0; i < n; i++) s += c.weight[i] * c.density[i] * c.density[c.next[i]];
  return s;
}
""",
    "an array of structures": """
struct cell { double a, b; int next; };
double f(const double *x, int n) {
  struct cell c[3000];
  double s = 0;
  for (int i = 0; i < 3000; i++) c[i] = (struct cell){x[i % n], x[(i + 1) % n] * x[i % n], (i * 7 + 1) % 3000};
  for (int i = 0; i < 3000; i++) s += c[i].a * c[c[i].next].b;
  return s * 1e-2;
}
""",
    "one in a loop": """
double f(const double *x, int n) {
  double s = 1;
  for (int k = 0; k < 4; k++) {
    double w[5000];
    for (int i = 0; i < n; i++) w[i] = x[i] * s;
    s = 0;
    for (int i = 0; i < n; i++) s += cos(w[i]) * w[n - 1 - i] / n;
  }
  return s;
}
""",
    "one in a function that calls itself": """
__attribute__((noinline)) static double g(const double *x, int n, int depth) {
  double w[3000];
  for (int i = 0; i < n; i++) w[i] = x[i] * (1 + depth);
  double below = depth ? g(w, n, depth - 1) : 1, s = 0;
  for (int i = 0; i < n; i++) s += sin(w[i]) * w[n - 1 - i];
  return s / n + below * w[depth];
}
double f(const double *x, int n) { return g(x, n, 3); }
""",
    "one in a function with two ends": """
static double g(const double *x, int n, double p) {
  double w[4000];
  for (int i = 0; i < n; i++) w[i] = x[i] * x[i] * p;
  if (p > 2) return w[3] * w[4];
  double s = 0;
  for (int i = 0; i < n; i++) s += w[i] * w[i];
  return s / n;
}
double f(const double *x, int n) {
  double s = 0;
  for (int k = 0; k < 5; k++) s += g(x, n, k);
  return s;
}
""",
    "an array that is aligned": """
double f(const double *x, int n) {
  _Alignas(16) double w[4096];
  double s = 0;
  for (int i = 0; i < 4096; i++) w[i] = x[i % n] * 2;
  for (int i = 0; i < 4096; i++) s += w[i] * w[4095 - i];
  return s * 1e-2;
}
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_large_local_arrays_have_right_gradients_soon(name: str, cache: Path, tmp_path: Path) -> None:
    """A minute and more without the pass `large-arrays`, most of them."""
    (tmp_path / "f.c").write_text("#include <math.h>\n" + PROGRAMS[name])
    f = enzyme(tmp_path / "f.c", "f", "x[n] -> return")
    x, h = np.random.default_rng(1).uniform(0.5, 1.5, N), 1e-6
    started = time.process_time()
    wall = time.monotonic()
    gradient = f.grad(x)
    # Of this process and on the wall: a busy machine takes longer, type analysis of each element much longer than that.
    assert time.process_time() - started < 10 and time.monotonic() - wall < 25
    expected = np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(N)])
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    tangent = np.random.default_rng(2).standard_normal(N)
    _, along = f.jvp((x,), (tangent,))
    np.testing.assert_allclose(along, gradient @ tangent, rtol=1e-9)


def test_second_derivatives_of_a_large_local_array(cache: Path, tmp_path: Path) -> None:
    """Forward over reverse mode."""
    (tmp_path / "f.c").write_text("#include <math.h>\n" + PROGRAMS["a vector"])
    f = enzyme(tmp_path / "f.c", "f", "x[n] -> return")
    x = np.random.default_rng(1).uniform(0.5, 1.5, N)
    tangent = np.random.default_rng(2).standard_normal(N)
    curvature = 2 * np.cos(x * x) - 4 * x * x * np.sin(x * x)
    np.testing.assert_allclose(f.hvp(x, tangent), curvature * tangent, rtol=1e-9)
