"""Gradients at stationary points: the minimum of a fit, where terms cancel and rounding is larger than what is left of them.

There a right gradient passes without a warning, under ``verify="strict"`` too, and a wrong one is refused as anywhere else.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
from ffgrad.errors import DifferentiationError, GradientWarning
from ffgrad.numpy import Enzyme, enzyme

FIT = """\
#include <math.h>
double misfit(const double *x, int n, const double *t, const double *seen, int m) {
  double sum = 0;
  for (int i = 0; i < m; i++) {
    double r = (x[0] * exp(-x[1] * t[i]) - seen[i]) / 0.1;
    sum += r * r / 2;
  }
  return sum;
}
"""
VALLEY = """\
double valley(const double *x, int n) {
  double sum = BASE;
  for (int i = 0; i + 1 < n; i++) {
    double a = 1 - x[i], b = x[i + 1] - x[i] * x[i];
    sum += a * a + 100 * b * b;
  }
  return sum;
}
"""
# A derivative by the user that is wrong by a constant factor, in reverse mode.
WRONG = """\
double square(double x) { return x * x; }
double square_fwd(double x, double dx, double *dy) { *dy = 2 * x * dx; return x * x; }
void square_rev(double x, double *dx, double dy) { *dx += 2.001 * x * dy; }
double sum_of_squares(const double *x, int n) {
  double sum = 1;
  for (int i = 0; i < n; i++) sum += square(x[i] - 1);
  return sum;
}
"""
# A derivative that is wrong at one value alone, where the function has a kink.
KINK = """\
double bent(double x) { return x > 1 ? 3 * (x - 1) : x - 1; }
double bent_fwd(double x, double dx, double *dy) { *dy = (x > 1 ? 3 : 1) * dx; return bent(x); }
void bent_rev(double x, double *dx, double dy) { *dx += (x > 1 ? 3 : x == 1 ? 2 : 1) * dy; }
double f(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += bent(x[i]);
  return sum;
}
"""


def quietly(f: Enzyme, *inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return gradient and Hessian; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return f.grad(*inputs), f.hessian(*inputs)


def test_the_minimum_of_a_fit_is_no_reason_to_doubt(tmp_path: Path) -> None:
    """The usual last step of a fit: the Hessian there, for the errors of the parameters."""
    (tmp_path / "fit.c").write_text(FIT)
    signature = "x[n], const t[m], const seen[m] -> return"
    t = np.linspace(0, 5, 50)
    seen = 2 * np.exp(-0.7 * t) + 0.1 * np.random.default_rng(0).standard_normal(50)
    fit = enzyme(tmp_path / "fit.c", "misfit", signature)
    start = np.array([1.0, 1.0])
    for tolerance in (1e-4, 1e-7, 1e-10):
        found = scipy.optimize.minimize(
            fit.value_and_grad, start, args=(t, seen), jac=True, method="BFGS", options={"gtol": tolerance}
        )
        # BFGS ends by a loss of precision on some processors, with exact gradients too; Newton's step does not.
        if np.abs(found.jac).max() > max(tolerance, 1e-8):
            found.x -= np.linalg.solve(fit.hessian(found.x, t, seen), fit.grad(found.x, t, seen))
        strict = enzyme(tmp_path / "fit.c", "misfit", signature, verify="strict")
        gradient, hessian = quietly(strict, found.x, t, seen)
        assert np.abs(gradient).max() < 10 * max(tolerance, 1e-8)
        model = np.exp(-found.x[1] * t)
        jacobian = np.stack((model, -found.x[0] * t * model), -1) / 0.1
        residual = (found.x[0] * model - seen) / 0.1
        mixed = (-t * model / 0.1 * residual).sum()
        second = np.array([[0, mixed], [mixed, (found.x[0] * t**2 * model / 0.1 * residual).sum()]])
        assert np.allclose(hessian, jacobian.T @ jacobian + second, rtol=1e-9)


@pytest.mark.parametrize("base", ["0", "1"])
@pytest.mark.parametrize("off", [0.0, 1e-15, 1e-12, 1e-9, 1e-6])
@pytest.mark.parametrize("n", [2, 10])
def test_a_point_near_a_minimum_is_verified(base: str, off: float, n: int, tmp_path: Path) -> None:
    """With a residual of zero at the minimum, where the function's value says nothing of rounding, and with another."""
    (tmp_path / "valley.c").write_text(VALLEY)
    valley = enzyme(tmp_path / "valley.c", "valley", "x[n] -> return", defines={"BASE": base}, verify="strict")
    x = 1 + off * np.random.default_rng(1).standard_normal(n)
    gradient, hessian = quietly(valley, x)
    expected = np.zeros(n)
    expected[:-1] += -2 * (1 - x[:-1]) - 400 * x[:-1] * (x[1:] - x[:-1] ** 2)
    expected[1:] += 200 * (x[1:] - x[:-1] ** 2)
    assert np.allclose(gradient, expected, rtol=1e-6, atol=1e-12)
    assert np.allclose(np.diag(hessian), [802, *[1002] * (n - 2), 200], rtol=1e-4)


@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-9, 1e-6, 1e-3])
def test_a_wrong_derivative_at_a_minimum_is_found(off: float, tmp_path: Path) -> None:
    (tmp_path / "wrong.c").write_text(WRONG)
    rule = {"square": ("square_fwd", "square_rev")}
    f = enzyme(tmp_path / "wrong.c", "sum_of_squares", "x[n] -> return", derivatives=rule)
    with pytest.raises(DifferentiationError, match="the reverse derivative given for `square` is wrong"):
        f.grad(1 + off * np.random.default_rng(2).standard_normal(4))


def test_a_kink_is_no_excuse(tmp_path: Path) -> None:
    """Derivatives jump in the last bits there, but by as much as they are large."""
    (tmp_path / "kink.c").write_text(KINK)
    f = enzyme(tmp_path / "kink.c", "f", "x[n] -> return", derivatives={"bent": ("bent_fwd", "bent_rev")})
    with pytest.raises(DifferentiationError, match="bent"):
        f.grad(np.ones(3))


COMPASS = """
#include <math.h>
static double cost(double u, double a, double b) { return cosh(u - a) + b * u * u; }
void search(double a, double b, double *at, double *least) {
  double u = 0, step = 0.5;
  while (step > 2e-5) {
    double here = cost(u, a, b);
    if (cost(u + step, a, b) < here) u += step;
    else if (cost(u - step, a, b) < here) u -= step;
    else step /= 2;
  }
  *at = u;
  *least = cost(u, a, b);
}
"""


def test_the_solution_of_a_search_by_comparisons_beside_its_value_is_doubtful(tmp_path: Path) -> None:
    """Its derivative by AD is 0, which small steps confirm; the value has one."""
    (tmp_path / "search.c").write_text(COMPASS)
    f = enzyme(tmp_path / "search.c", "search", "a, b -> at, least")
    with pytest.warns(GradientWarning, match="for `at`"):
        (at, least), pullback = f.vjp(0.83, 0.41)
        gradient = pullback((0.0, 1.0))
    assert np.allclose(gradient, [-np.sinh(at - 0.83), at**2], rtol=1e-12)
    assert np.isclose(least, np.cosh(at - 0.83) + 0.41 * at**2)
