"""Branches for one value alone, where the function is smooth and the derivative of the branch is another: each raises a warning.

The slopes at these values are closed forms: Bernoulli's function x/(e^x - 1) has -1/2 at 0, (e^x - 1)/x has 1/2, the annuity of ten payments -55,
Langevin's function coth x - 1/x has 1/3 (Abramowitz and Stegun, *Handbook of Mathematical Functions*, 4.5 and 27.1).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from ffgrad.errors import DifferentiationError, GradientWarning
from ffgrad.numpy import enzyme

SOURCE = r"""
#include <math.h>
double bernoulli(double x) { return x == 0 ? 1 : x / (exp(x) - 1); }
double growth(double x) { return x == 0 ? 1 : (exp(x) - 1) / x; }
double annuity(double r) { return r == 0 ? 10 : (1 - pow(1 + r, -10)) / r; }
double langevin(double x) { return x == 0 ? 0 : 1 / tanh(x) - 1 / x; }
double sinc(double x) { return x == 0 ? 1 : sin(x) / x; }
double near_one(double s, double t) { if (fabs(s - 1) < 1e-9) s = 1; return s * s * 3 + t; }
double gap(double x) { return fabs(x) < 1e-6 ? 1 : (exp(x) - 1) / x; }
double gap_at_two(double x) { return fabs(x - 2) < 1e-6 ? 4 : (x * x - 4) / (x - 2); }
double beside_a_large_one(double x, double y) { return (x == 0 ? 1 : (exp(x) - 1) / x) + 1e4 * y * y; }
static double bernoulli_of(double d) { return d == 0 ? 1 : d / (exp(d) - 1); }
double flux(const double *v, int n) {
  double sum = 0;
  for (int i = 0; i + 1 < n; i++) sum += (i + 1) * bernoulli_of(v[i + 1] - v[i]) * v[i];
  return sum;
}
double lines(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] == 0 ? 1 : 1 - x[i] / 2;
  return sum;
}
void bernoullis(const double *x, double *y, int n) {
  for (int i = 0; i < n; i++) y[i] = x[i] == 0 ? 1 : x[i] / (exp(x[i]) - 1);
}
double logs(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] == 1 ? -1 : log(x[i]) / (1 - x[i]);
  return sum;
}
double rectified(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] > 0 ? x[i] * x[i] + x[i] : 0;
  return sum;
}
double magnitudes(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += fabs(x[i]) + x[i] * x[i];
  return sum;
}
double cube_root(double a) {
  double x0 = 1, x1 = 2;
  for (int k = 0; k < 60; k++) {
    double f0 = x0 * x0 * x0 - a, f1 = x1 * x1 * x1 - a;
    if (f1 == f0) break;
    double x2 = x1 - f1 * (x1 - x0) / (f1 - f0);
    x0 = x1;
    x1 = x2;
    if (fabs(x1 - x0) < 1e-15) break;
  }
  return x1;
}
"""
SCALARS = {"bernoulli": 0.0, "growth": 0.0, "annuity": 0.0, "langevin": 0.0}
ARRAYS = {"lines": ("x[n] -> return", 0.0), "bernoullis": ("x[n] -> y[n]", 0.0), "logs": ("x[n] -> return", 1.0)}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("special") / "special.c"
    path.write_text(SOURCE)
    yield path


@pytest.mark.parametrize("name", SCALARS)
def test_a_quotient_with_a_branch_for_its_gap_is_doubtful_there(source: Path, name: str) -> None:
    """With steps of 1e-7 and below the differences are rounding; larger ones agree on the slope."""
    with pytest.warns(GradientWarning, match="doubtful"):
        enzyme(source, name).grad(SCALARS[name])
    with pytest.raises(DifferentiationError):
        enzyme(source, name, verify="strict").grad(SCALARS[name])


def test_a_window_smaller_than_the_usual_steps_has_the_derivative_of_what_is_around_it(source: Path) -> None:
    """Within 1e-9 of 1 the value is that at 1: the slope of 3 s^2 there is 6."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", GradientWarning)
        assert np.isclose(enzyme(source, "near_one").grad(1.0, 2.0), 6, rtol=1e-12)


@pytest.mark.parametrize(("name", "x"), [("gap", 0.0), ("gap_at_two", 2.0)])
def test_a_gap_wider_than_the_usual_steps_is_doubtful_where_the_derivative_is_zero(
    source: Path, name: str, x: float
) -> None:
    with pytest.warns(GradientWarning, match="doubtful"):
        enzyme(source, name).grad(x)
    with pytest.raises(DifferentiationError):
        enzyme(source, name, verify="strict").grad(x)


def test_an_input_beside_one_with_a_large_derivative_is_moved_by_itself(source: Path) -> None:
    with pytest.warns(GradientWarning, match="doubtful"):
        enzyme(source, "beside_a_large_one").grad(0.0, 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_equal_neighbours_are_doubtful(source: Path, seed: int) -> None:
    """The flux of Scharfetter and Gummel: the derivative of Bernoulli's function at 0 is taken as 0."""
    rng = np.random.default_rng(seed)
    f = enzyme(source, "flux", "v[n] -> return")
    with warnings.catch_warnings():
        warnings.simplefilter("error", GradientWarning)
        f.grad(rng.standard_normal(10))
    v = rng.standard_normal(10)
    v[4] = v[5]
    with pytest.warns(GradientWarning, match="doubtful"):
        f.grad(v)


def test_the_second_derivative_at_a_gap_is_doubtful(source: Path) -> None:
    """That of sin(x)/x at 0 is -1/3, the branch's is 0."""
    with pytest.warns(GradientWarning, match="second derivatives"):
        enzyme(source, "sinc").hessian(0.0)


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("n", [300, 5000])
@pytest.mark.parametrize("name", [name for name in ARRAYS if name != "lines"])
def test_one_special_value_among_many_is_found(source: Path, name: str, n: int, is_first: bool) -> None:
    signature, special = ARRAYS[name]
    f = enzyme(source, name, signature)
    x = np.random.default_rng(1).uniform(0.2, 0.9, n)
    seed = np.ones(n) if name == "bernoullis" else 1.0
    if not is_first:
        with warnings.catch_warnings():
            warnings.simplefilter("error", GradientWarning)
            f.vjp(x)[1](seed)
    x[n // 3] = special
    with pytest.warns(GradientWarning, match="doubtful"):
        f.vjp(x)[1](seed)


@pytest.mark.parametrize("n", [300, 5000])
def test_a_branch_that_is_as_its_other_edge_has_the_derivative_of_that(source: Path, n: int) -> None:
    """The branch for 0 has the value of 1 - x / 2 there, and so -1/2 is the function's derivative."""
    x = np.random.default_rng(1).uniform(0.2, 0.9, n)
    x[n // 3] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", GradientWarning)
        np.testing.assert_array_equal(enzyme(source, "lines", "x[n] -> return").grad(x), np.full(n, -0.5))


@pytest.mark.parametrize("name", ["rectified", "magnitudes"])
def test_a_kink_among_many_raises_no_warning(source: Path, name: str) -> None:
    """At a kink the derivative given is one of both sides, as users of such functions expect."""
    x = np.random.default_rng(2).uniform(0.2, 0.9, 5000)
    x[7] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", GradientWarning)
        gradient = enzyme(source, name, "x[n] -> return").grad(x)
    assert gradient[8] == pytest.approx(1 + 2 * x[8])


@pytest.mark.parametrize("before", [2.0, 3.0])
def test_an_iteration_that_ends_at_once_is_a_path_of_its_own(source: Path, before: float) -> None:
    """Its second point is the root of x^3 = 8 already: the derivative of that one step is 1/7, not 1/12."""
    f = enzyme(source, "cube_root")
    with warnings.catch_warnings():
        warnings.simplefilter("error", GradientWarning)
        assert f.grad(before) == pytest.approx(before ** (-2 / 3) / 3, rel=1e-9)
    with pytest.warns(GradientWarning, match="doubtful"):
        f.grad(8.0)
    assert f.path_checks()["checked"] >= 1


def test_a_quotient_of_the_smallest_numbers_has_the_tangent_of_its_numerator_alone() -> None:
    """Miller's recurrence is linear in its scale: the square of the denominator, which underflows, is never made."""
    source = Path(__file__).resolve().parents[1] / "cases/enzyme_bugs/backward_recurrence.c"
    f = enzyme(source, "backward_recurrence", "x, scale -> j[4]")
    values, along = f.jvp((1.7, 0.9), (None, 1.0))
    np.testing.assert_allclose(along, values / 0.9, rtol=1e-12)
