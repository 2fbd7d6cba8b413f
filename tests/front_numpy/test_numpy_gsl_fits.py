"""GSL's nonlinear fits: the gradient at the minimum is compared with the implicit function theorem.

Differences of fitted parameters are as noisy as the fit's own tolerance; the theorem's derivative is exact at the minimum.
"""

from __future__ import annotations

import ctypes.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write

pytestmark = pytest.mark.skipif(
    ctypes.util.find_library("gsl") is None or not Path("/usr/include/gsl").is_dir(), reason="needs libgsl-dev"
)

SOURCE = """
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
typedef struct { const double *t, *y; int n; } data;
static int residuals(const gsl_vector *p, void *given, gsl_vector *r) {
  const data *d = given;
  double a = gsl_vector_get(p, 0), rate = gsl_vector_get(p, 1), level = gsl_vector_get(p, 2);
  for (int i = 0; i < d->n; i++) gsl_vector_set(r, i, a * exp(-rate * d->t[i]) + level - d->y[i]);
  return 0;
}
static int slopes(const gsl_vector *p, void *given, gsl_matrix *J) {
  const data *d = given;
  double a = gsl_vector_get(p, 0), rate = gsl_vector_get(p, 1);
  for (int i = 0; i < d->n; i++) {
    double e = exp(-rate * d->t[i]);
    gsl_matrix_set(J, i, 0, e);
    gsl_matrix_set(J, i, 1, -a * d->t[i] * e);
    gsl_matrix_set(J, i, 2, 1);
  }
  return 0;
}
void fit(const double *t, const double *y, int n, double *p) {
  data d = {t, y, n};
  gsl_multifit_nlinear_fdf problem = {.f = residuals, .df = SLOPES, .n = n, .p = 3, .params = &d};
  gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
  gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, n, 3);
  double start[3] = {1, 1, 0};
  gsl_vector_view x = gsl_vector_view_array(start, 3);
  gsl_multifit_nlinear_init(&x.vector, &problem, w);
  int info;
  gsl_multifit_nlinear_driver(200, 1e-15, 1e-15, 0, 0, 0, &info, w);
  for (int i = 0; i < 3; i++) p[i] = gsl_vector_get(w->x, i);
  gsl_multifit_nlinear_free(w);
}
"""


def normal(p: np.ndarray, t: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return what vanishes at the minimum: half the gradient of the sum of squares."""
    a, rate, level = p
    e = np.exp(-rate * t)
    r = a * e + level - y
    return np.array([e @ r, (-a * t * e) @ r, r.sum()])


def jacobian(of: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """Return the Jacobian by complex steps."""
    steps = 1e-30j * np.eye(len(x))
    return np.array([of(x + step).imag / 1e-30 for step in steps]).T


@pytest.mark.parametrize(("slopes", "tolerance"), [("slopes", 1e-11), ("0", 1e-6)], ids=["analytic", "differences"])
def test_the_gradient_of_a_fit_is_the_theorems(write: Write, slopes: str, tolerance: float) -> None:
    """By the times and by the data; where GSL takes differences for its Jacobian, its minimum is as exact as these."""
    f = enzyme(write(SOURCE.replace("SLOPES", slopes)), "fit", "t[n], y[n] -> p[3]", libraries=["gsl", "gslcblas"])
    t = np.linspace(0, 3, 12)
    y = 2 * np.exp(-1.3 * t) + 0.5 + 0.05 * np.sin(7 * t)
    p, pullback = f.vjp(t, y)
    by_time, by_data = (np.array(rows) for rows in zip(*(pullback(row) for row in np.eye(3)), strict=True))
    for _ in range(5):  # Newton's steps, to the last bits
        p = p - np.linalg.solve(jacobian(lambda q: normal(q, t, y), p), normal(p, t, y))
    curvature = jacobian(lambda q: normal(q, t, y), p)
    expected_by_time = -np.linalg.solve(curvature, jacobian(lambda v: normal(p, v, y), t))
    expected_by_data = -np.linalg.solve(curvature, jacobian(lambda v: normal(p, t, v), y))
    np.testing.assert_allclose(by_time, expected_by_time, rtol=0, atol=tolerance * np.abs(expected_by_time).max())
    np.testing.assert_allclose(by_data, expected_by_data, rtol=0, atol=tolerance * np.abs(expected_by_data).max())
    tangent = f.jvp((t, y), (np.cos(t), np.sin(t)))[1]
    np.testing.assert_allclose(tangent, by_time @ np.cos(t) + by_data @ np.sin(t), rtol=1e-10)
