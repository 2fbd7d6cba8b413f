"""LAPACK's drivers with bodies in the user's sources: their callers get the rule's derivative, and the bodies give the values."""

from __future__ import annotations

import numpy as np
import pytest
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import Write

# A driver of LAPACK's make: Jacobi's method in the places of its helpers, which skips what is zero. So at a diagonal matrix its code
# does not depend on what is beside the diagonal, and the derivative of the code is wrong there. INT: its integers; RETURNS and RETURN: as
# translators of Fortran write subroutines.
JACOBI = """
#include <math.h>
typedef INT integer;
RETURNS dsytrd_(const char* uplo, integer* n, double* a, integer* lda, integer* info) {
  for (integer j = 0; j < *n; j++) for (integer i = 0; i < j; i++) {
    if (*uplo == 'U') a[j + i * *lda] = a[i + j * *lda];
    else a[i + j * *lda] = a[j + i * *lda];
  }
  *info = 0;
  RETURN;
}
RETURNS dsteqr_(const char* job, integer* n, double* w, double* a, integer* lda, double* v, integer* info) {
  integer m = *n, l = *lda;
  for (integer i = 0; i < m * m; i++) v[i] = i % (m + 1) == 0;
  for (int sweep = 0; sweep < 30; sweep++)
    for (integer p = 0; p < m; p++) for (integer q = p + 1; q < m; q++) {
      double apq = a[p + q * l];
      if (fabs(apq) < 1e-14) continue;
      double theta = (a[q + q * l] - a[p + p * l]) / (2 * apq);
      double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
      for (integer k = 0; k < m; k++) {
        double x = a[k + p * l], y = a[k + q * l];
        a[k + p * l] = c * x - s * y, a[k + q * l] = s * x + c * y;
      }
      for (integer k = 0; k < m; k++) {
        double x = a[p + k * l], y = a[q + k * l];
        a[p + k * l] = c * x - s * y, a[q + k * l] = s * x + c * y;
      }
      for (integer k = 0; k < m; k++) {
        double x = v[k + p * m], y = v[k + q * m];
        v[k + p * m] = c * x - s * y, v[k + q * m] = s * x + c * y;
      }
    }
  for (integer i = 0; i < m; i++) w[i] = a[i + i * l];
  for (integer i = 0; i < m; i++) {
    integer least = i;
    for (integer k = i; k < m; k++) if (w[k] < w[least]) least = k;
    double kept = w[i];
    w[i] = w[least], w[least] = kept;
    for (integer k = 0; k < m; k++) kept = v[k + i * m], v[k + i * m] = v[k + least * m], v[k + least * m] = kept;
  }
  *info = 0;
  RETURN;
}
RETURNS dsyev_(const char* job, const char* uplo, integer* n, double* a, integer* lda, double* w, double* work, integer* lwork,
               integer* info) {
  if (*lwork == -1) {
    work[0] = *n * *n;
    *info = 0;
    RETURN;
  }
  dsytrd_(uplo, n, a, lda, info);
  dsteqr_(job, n, w, a, lda, work, info);
  if (*job == 'V') for (integer j = 0; j < *n; j++) for (integer i = 0; i < *n; i++) a[i + j * *lda] = work[i + j * *n];
  RETURN;
}
"""
# Sums over the eigenvectors' products with a vector; signs do not matter.
CALLER = """
double f(const double* x) {
  double v[9], w[3], work[64], sum = 0;
  integer n = 3, size = 64, info;
  for (int i = 0; i < 9; i++) v[i] = x[i];
  dsyev_("V", "U", &n, v, &n, w, work, &size, &info);
  for (int j = 0; j < 3; j++) {
    double dot = 0.3 * v[3 * j] - 0.7 * v[1 + 3 * j] + 1.1 * v[2 + 3 * j];
    sum += (j + 1) * dot * dot + w[j] * w[j] * w[j];
  }
  return sum;
}
"""
C = np.array([0.3, -0.7, 1.1])


def jacobi(write: Write, integer: str = "int", returns: str = "void") -> Enzyme:
    """Of the driver above."""
    body = JACOBI.replace("INT", integer).replace("RETURNS", returns)
    body = body.replace("RETURN;", "return;" if returns == "void" else "return 0;")
    return enzyme(write(body + CALLER), "f", "x[9] -> return")


def expected(x: np.ndarray) -> np.ndarray:
    """By NumPy: differences of the sum, in the upper triangle of columns."""

    def total(x: np.ndarray) -> float:
        a = x.reshape(3, 3).T
        w, v = np.linalg.eigh(np.triu(a) + np.triu(a, 1).T)
        return float(sum((j + 1) * (C @ v[:, j]) ** 2 + w[j] ** 3 for j in range(3)))

    h = 1e-5
    steps = h * np.eye(9)
    return np.array(
        [(8 * (total(x + s) - total(x - s)) - total(x + 2 * s) + total(x - 2 * s)) / (12 * h) for s in steps]
    )


DIAGONAL = np.diag([1.0, 2.0, 5.0]).ravel()
WHOLE = np.random.default_rng(3).uniform(-1, 1, 9)


@pytest.mark.parametrize("returns", ["void", "int"])
def test_a_driver_is_differentiated_by_its_rule(write: Write, returns: str) -> None:
    """Where its code does not depend on the matrix, too; also as translators of Fortran write it."""
    f = jacobi(write, returns=returns)
    for x in (DIAGONAL, WHOLE):
        np.testing.assert_allclose(f.grad(x), expected(x), rtol=1e-7, atol=1e-7)
    direction = np.arange(9.0)
    np.testing.assert_allclose(f.jvp((WHOLE,), (direction,))[1], f.grad(WHOLE) @ direction, rtol=1e-9)


def test_the_body_gives_the_values(write: Write) -> None:
    """Not the library's routine: this one counts what it finds in thousands."""
    body = JACOBI.replace("INT", "int").replace("RETURNS", "void").replace("RETURN;", "return;")
    body = body.replace("w[i] = a[i + i * l];", "w[i] = 1000 * a[i + i * l];")
    caller = CALLER.replace("return sum;", "return w[0];")
    f = enzyme(write(body + caller), "f", "x[9] -> return")
    assert abs(f(DIAGONAL) - 1000) < 1e-9


def test_a_driver_of_wide_integers_is_differentiated_as_code(write: Write) -> None:
    """The rule's are of 32 bits."""
    f = jacobi(write, integer="long")
    np.testing.assert_allclose(f.grad(WHOLE), expected(WHOLE), rtol=1e-7, atol=1e-7)


def test_another_function_of_the_name_is_differentiated_as_code(write: Write) -> None:
    """It takes a driver's arguments, and means something else."""
    text = """
void dsyev_(const char* job, const char* uplo, int* n, double* a, int* lda, double* w, double* work, int* lwork, int* info) {
  for (int i = 0; i < *n; i++) w[i] = a[i + i * *lda] * a[i];
  *info = 0;
}
double f(const double* x) {
  double a[9], w[3], work[9];
  int n = 3, size = 9, info;
  for (int i = 0; i < 9; i++) a[i] = x[i];
  dsyev_("N", "U", &n, a, &n, w, work, &size, &info);
  return w[0] + 2 * w[1] + 3 * w[2];
}
"""
    x = np.arange(1.0, 10.0)
    gradient = np.zeros(9)
    gradient[[0, 4, 8]] = np.array([1, 2, 3]) * x[:3]
    gradient[:3] += np.array([1, 2, 3]) * x[[0, 4, 8]]
    np.testing.assert_allclose(enzyme(write(text), "f", "x[9] -> return").grad(x), gradient, rtol=1e-12)


def test_users_derivatives_take_precedence(write: Write) -> None:
    """Over the rule for a driver."""
    rule = """
#include <ffgrad/derivatives.h>
void dsyev_fwd(const char* j, const char* dj, const char* u, const char* du, int* n, int* dn, double* a, double* da, int* lda, int* dlda,
               double* w, double* dw, double* work, double* dwork, int* lwork, int* dlwork, int* info, int* dinfo) {
  dsyev_(j, u, n, a, lda, w, work, lwork, info);
  if (dw) for (int i = 0; i < 3; i++) dw[i] = 42;
}
void dsyev_rev(const char* j, const char* dj, const char* u, const char* du, int* n, int* dn, double* a, double* da, int* lda, int* dlda,
               double* w, double* dw, double* work, double* dwork, int* lwork, int* dlwork, int* info, int* dinfo) {
  if (da && dw) for (int i = 0; i < 3; i++) da[i] = 42 * dw[i];
}
FFGRAD_DERIVATIVES(dsyev_, dsyev_fwd, dsyev_rev);
"""
    body = JACOBI.replace("INT", "int").replace("RETURNS", "void").replace("RETURN;", "return;")
    caller = CALLER.replace("return sum;", "return w[0];")
    f = enzyme(write(body + rule + caller), "f", "x[9] -> return", verify="off")
    assert f.grad(WHOLE)[0] == 42
