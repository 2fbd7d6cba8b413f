"""GSL's root finders and minimisers: what they have not solved has no derivative, in any call; between iterations roots may be read."""

from __future__ import annotations

import ctypes.util
from pathlib import Path

import numpy as np
import pytest
from ffgrad.errors import DifferentiationError
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import Write

pytestmark = pytest.mark.skipif(
    ctypes.util.find_library("gsl") is None or not Path("/usr/include/gsl").is_dir(), reason="needs libgsl-dev"
)

# Each runs as many iterations as it is given; `trace` are values that it reads in between.
SOURCE = """
#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>
#include <gsl/gsl_multiroots.h>
#include <gsl/gsl_roots.h>
#include <math.h>
static double power(double x, void *given) { double *p = given; return pow(x, p[1]) - p[0]; }
void bracketed(const double *p, int iterations, double *root, double *trace) {
  double own[2] = {p[0], p[1]};
  gsl_function f = {power, own};
  gsl_root_fsolver *s = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
  gsl_root_fsolver_set(s, &f, 0.5, 9);
  *trace = 0;
  for (int i = 0; i < iterations; i++) {
    gsl_root_fsolver_iterate(s);
    *trace += fabs(gsl_root_fsolver_root(s)) > 100;
  }
  *root = gsl_root_fsolver_root(s);
  gsl_root_fsolver_free(s);
}
static double well(double x, void *given) { double *p = given; return exp(-2 * x) + 0.2 * p[0] * x * x - p[1] * x; }
void lowest(const double *p, int iterations, double *place) {
  double own[2] = {p[0], p[1]};
  gsl_function f = {well, own};
  gsl_min_fminimizer *s = gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent);
  gsl_min_fminimizer_set(s, &f, 1, -5, 20);
  for (int i = 0; i < iterations; i++) gsl_min_fminimizer_iterate(s);
  *place = gsl_min_fminimizer_x_minimum(s);
  gsl_min_fminimizer_free(s);
}
static int both(const gsl_vector *u, void *given, gsl_vector *f) {
  double *p = given, a = gsl_vector_get(u, 0), b = gsl_vector_get(u, 1);
  gsl_vector_set(f, 0, a * a * a - p[0]);
  gsl_vector_set(f, 1, a * b - p[1]);
  return GSL_SUCCESS;
}
void together(const double *p, int iterations, double *root) {
  double own[2] = {p[0], p[1]};
  gsl_multiroot_function f = {both, 2, own};
  gsl_multiroot_fsolver *s = gsl_multiroot_fsolver_alloc(gsl_multiroot_fsolver_hybrids, 2);
  gsl_vector *start = gsl_vector_alloc(2);
  gsl_vector_set_all(start, 3);
  gsl_multiroot_fsolver_set(s, &f, start);
  for (int i = 0; i < iterations; i++) gsl_multiroot_fsolver_iterate(s);
  for (int i = 0; i < 2; i++) root[i] = gsl_vector_get(gsl_multiroot_fsolver_root(s), i);
  gsl_multiroot_fsolver_free(s);
  gsl_vector_free(start);
}
"""
LIBRARIES = ["gsl", "gslcblas", "m"]
POINT = np.array([5.0, 2.5])


def opened(write: Write, name: str, signature: str) -> Enzyme:
    """One of the functions."""
    return enzyme(write(SOURCE), name, signature, libraries=LIBRARIES)


def test_a_root_has_its_derivative_though_it_is_read_between_iterations(write: Write) -> None:
    """x = p^(1/k), the closed form; what is read on the way is no result with a derivative."""
    f = opened(write, "bracketed", "p[2], iterations -> root[1], trace[1]")
    (root, _), pull = f.vjp(POINT, 40)
    p, k = POINT
    np.testing.assert_allclose(root[0], p ** (1 / k), rtol=1e-12)
    expected = [root[0] / (k * p), -root[0] * np.log(p) / k**2]
    np.testing.assert_allclose(pull((np.ones(1), np.zeros(1)))[0], expected, rtol=1e-9)


@pytest.mark.parametrize(
    "name, signature, enough",
    [
        ("bracketed", "p[2], iterations -> root[1], trace[1]", 40),
        ("lowest", "p[2], iterations -> place[1]", 60),
        ("together", "p[2], iterations -> root[2]", 30),
    ],
)
def test_what_is_not_solved_in_a_later_call_is_an_error(write: Write, name: str, signature: str, enough: int) -> None:
    """After a call that was, and its gradient was verified; in forward mode by the check of a new path, which has both."""
    f = opened(write, name, signature)

    def gradient(iterations: int) -> np.ndarray:
        values, pull = f.vjp(POINT, iterations)
        values = values if isinstance(values, tuple) else (values,)
        cotangents = [np.ones_like(v) for v in values]
        return pull(tuple(cotangents) if len(cotangents) > 1 else cotangents[0])[0]

    assert np.isfinite(gradient(enough)).all()
    with pytest.raises(DifferentiationError, match="GSL has not come near a root or a minimum in this call") as error:
        gradient(2)
    assert error.value.code == "implicit-unsolved"
    with pytest.raises(DifferentiationError, match="GSL has not come near"):
        f.jvp((POINT, 2), (np.ones(2), None))
    assert np.isfinite(gradient(enough)).all()


def test_a_double_root_has_no_derivative(write: Write) -> None:
    """There the slope vanishes, and the root does not move smoothly."""
    f = opened(write, "together", "p[2], iterations -> root[2]")
    assert np.isfinite(f.vjp(POINT, 30)[1](np.ones(2))[0]).all()
    with pytest.raises(DifferentiationError, match="GSL has not come near a root"):
        f.vjp(np.array([0.0, 0.0]), 60)[1](np.ones(2))
