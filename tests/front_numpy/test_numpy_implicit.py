"""Derivatives of solvers by the implicit function theorem: roots, fixed points, minima, in C and Fortran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ffgrad
import numpy as np
import pytest
from ffgrad import implicit
from ffgrad.errors import CompileError
from ffgrad.numpy import enzyme
from support.fixtures import Write

# Bisection, whose derivative by AD is 0.
BISECTION = """
#include <math.h>
double kepler(double x, double e, double m) { return x - e * sin(x) - m; }
double solve(double e, double m, double tolerance) {
  double low = m - 1, high = m + 1;
  while (high - low > tolerance) {
    double x = 0.5 * (low + high);
    if (kepler(x, e, m) > 0) high = x; else low = x;
  }
  return 0.5 * (low + high);
}
double f(double e, double m) { double x = solve(e, m, 1e-14); return x * x * e; }
"""

# A linear and a nonlinear system with two arrays of parameters, by a method that nobody could differentiate.
SYSTEM = """
#include <math.h>
void residual(const double *x, int n, const double *a, const double *b, int m, double *r) {
  for (int i = 0; i < n; i++) {
    r[i] = x[i] * x[i] * x[i] + 3 * x[i] - b[i];
    for (int j = 0; j < n; j++) r[i] += a[i * n + j] * x[j] / m;
  }
}
int solve(double *x, int n, const double *a, const double *b, int m, double *work, int most) {
  int count = 0;
  for (int i = 0; i < n; i++) x[i] = 0;
  for (double size = 1; size > 1e-30 && count < most; count++) {
    residual(x, n, a, b, m, work);
    size = 0;
    for (int i = 0; i < n; i++) { double s = (double)(long long)(work[i] * 1e12) / 1e12; x[i] -= s / 8; size += work[i] * work[i]; }
  }
  return count;
}
void f(const double *a, const double *b, int n, double *y) {
  double x[8], work[8], old[8] = {0};
  for (int k = 1; k <= 2; k++) {
    int count = solve(x, n, a, b, k, work, 400);
    for (int i = 0; i < n; i++) old[i] += k * x[i] * x[i] + 0 * count;
  }
  for (int i = 0; i < n; i++) y[i] = old[i];
}
"""


def differences(f: Callable[..., Any], at: list[np.ndarray], argument: int, h: float = 1e-5) -> np.ndarray:
    """Return the Jacobian by central differences."""
    columns = []
    for k in range(at[argument].size):
        moved = [[x.copy() for x in at] for _ in range(2)]
        moved[0][argument].flat[k] += h
        moved[1][argument].flat[k] -= h
        columns.append((np.asarray(f(*moved[0])) - np.asarray(f(*moved[1]))) / (2 * h))
    return np.stack(columns, -1)


def test_a_root_by_bisection_has_its_first_and_second_derivatives(write: Write) -> None:
    """Against the closed form of Kepler's equation: dE/dM = 1 / (1 - e cos E)."""
    f = enzyme(write(BISECTION), "f", derivatives={"solve": implicit("kepler")}, verify="strict")
    e, m = 0.3, 1.1
    value, (de, dm) = f.value_and_grad(e, m, argnums=(0, 1))
    x = np.sqrt(value / e)
    slope = 1 / (1 - e * np.cos(x))
    assert np.isclose(dm, 2 * x * e * slope, rtol=1e-11)
    assert np.isclose(de, 2 * x * e * np.sin(x) * slope + x * x, rtol=1e-11)
    second = -e * np.sin(x) * slope**3
    assert np.isclose(f.hessian(e, m, argnums=1), 2 * e * (slope**2 + x * second), rtol=1e-10)


def test_the_solver_itself_can_be_opened(write: Write) -> None:
    """A rule is checked alone that way."""
    f = enzyme(write(BISECTION), "solve", "e, m, const tolerance -> return", derivatives={"solve": implicit("kepler")})
    x, (_, dm) = f.value_and_grad(0.3, 1.1, 1e-14, argnums=(0, 1))
    assert np.isclose(dm, 1 / (1 - 0.3 * np.cos(x)), rtol=1e-11)


def test_a_system_has_derivatives_by_each_array_of_parameters(write: Write) -> None:
    """Called twice in one function, with a status, work space and integers beside."""
    rule = {"solve": implicit("residual", size="n")}
    f = enzyme(write(SYSTEM), "f", "a[n,n], b[n] -> y[n]", derivatives=rule)
    rng = np.random.default_rng(3)
    at = [rng.uniform(0.1, 0.5, (4, 4)), rng.uniform(1, 3, 4)]
    value, pull = f.vjp(*at)
    v = rng.normal(size=4)
    da, db = pull(v)
    assert np.allclose(da.ravel(), v @ differences(f, at, 0), atol=1e-6)
    assert np.allclose(db, v @ differences(f, at, 1), atol=1e-6)
    t = [rng.normal(size=x.shape) for x in at]
    moved, tangent = f.jvp(at, t)
    assert np.allclose(moved, value)
    assert np.isclose(v @ tangent, (da * t[0]).sum() + db @ t[1], rtol=1e-10)


def test_second_derivatives_of_a_system_are_right(write: Write) -> None:
    """Against differences of the gradient."""
    rule = {"solve": implicit("residual", size="n")}
    f = enzyme(write(SYSTEM), "f", "a[n,n], b[n] -> y[n]", derivatives=rule)
    rng = np.random.default_rng(4)
    a, b, v = rng.uniform(0.1, 0.5, (3, 3)), rng.uniform(1, 3, 3), rng.normal(size=3)

    def gradient(b: np.ndarray) -> np.ndarray:
        return f.vjp(a, b)[1](v)[1]

    t, h = rng.normal(size=3), 1e-5
    wanted = (gradient(b + h * t) - gradient(b - h * t)) / (2 * h)
    _, found = f.hvp((a, b), (np.zeros_like(a), t), v)
    assert np.allclose(found, wanted, atol=1e-6)


def test_fixed_points_and_minima(write: Write) -> None:
    """Of g(x) = x, and of the smallest value of a function, whose gradient and Hessian are Enzyme's."""
    text = """
    #include <math.h>
    double g(double x, double p) { return cos(p * x); }
    double fixed(double p) { double x = 0.5; for (int i = 0; i < 300; i++) x = g(x, p); return x; }
    double cost(const double *x, const double *p, int n) {
      double s = 0;
      for (int i = 0; i < n; i++) s += exp(x[i] * p[i]) - 2 * x[i] + 0.5 * x[i] * x[(i + 1) % n] + x[i] * x[i];
      return s;
    }
    void smallest(double *x, const double *p, int n) {
      for (int i = 0; i < n; i++) x[i] = 0;
      for (int k = 0; k < 3000; k++)
        for (int i = 0; i < n; i++)
          x[i] -= 0.05 * (p[i] * exp(x[i] * p[i]) - 2 + 0.5 * x[(i + 1) % n] + 0.5 * x[(i + n - 1) % n] + 2 * x[i]);
    }
    double f(double p) { return fixed(p); }
    void h(const double *p, int n, double *y) { smallest(y, p, n); }
    """
    source = write(text)
    rules = {"fixed": implicit("g", kind="fixed_point"), "smallest": implicit("cost", kind="minimum")}
    f = enzyme(source, "f", derivatives=rules)
    x, slope = f.value_and_grad(0.8)
    assert np.isclose(slope, -np.sin(0.8 * x) * x / (1 + 0.8 * np.sin(0.8 * x)), rtol=1e-10)
    h = enzyme(source, "h", "p[n] -> y[n]", derivatives=rules)
    p = np.array([0.4, 0.7, 0.9])
    assert np.allclose(h.jacobian(p), differences(h, [p], 0), atol=1e-6)


def test_solvers_in_fortran_take_their_arguments_by_reference(write: Write) -> None:
    """A module's procedures, and external ones."""
    text = """
    module m
    contains
      subroutine solve(n, a, x, info)
        integer, intent(in) :: n
        real(8), intent(in) :: a(n)
        real(8), intent(inout) :: x(n)
        integer, intent(out) :: info
        integer :: i, k
        real(8) :: low, high
        do i = 1, n
          low = 0; high = 10
          do k = 1, 60
            x(i) = (low + high) / 2
            if (x(i)**3 + a(i) * x(i) - 2 > 0) then
              high = x(i)
            else
              low = x(i)
            end if
          end do
        end do
        info = 0
      end subroutine
      subroutine residual(n, a, x, r)
        integer, intent(in) :: n
        real(8), intent(in) :: a(n), x(n)
        real(8), intent(out) :: r(n)
        r = x**3 + a * x - 2
      end subroutine
      subroutine f(n, a, y)
        integer, intent(in) :: n
        real(8), intent(in) :: a(n)
        real(8), intent(out) :: y(n)
        real(8) :: x(n)
        integer :: info
        call solve(n, a, x, info)
        y = x * a
      end subroutine
    end module
    """
    f = enzyme(write(text, "f.f90"), "f", derivatives={"solve": implicit("residual")})
    a = np.array([0.5, 1.0, 2.0])
    x = f(a) / a
    assert np.allclose(f.jacobian(a), np.diag(x - a * x / (3 * x**2 + a)), atol=1e-9)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (implicit("rezidual"), "the sources define no such function"),
        (implicit("residual"), "any of `n`, `m` may count the unknowns of `solve`: add size="),
        (implicit("residual", unknown="y"), "`solve` has no parameter `y`"),
        (implicit("other", size="n"), "beyond those of `solve` it has none"),
        (implicit("single", size="n"), "the unknown, and the values of `single`, are not all `double`"),
        (implicit("hidden", size="n"), "`hidden` is static"),
        (implicit("residual", size="n", kind="minimum"), "it returns the number that is smallest at the solution"),
    ],
)
def test_prototypes_that_do_not_fit_are_refused_when_opened(write: Write, rule: dict[str, Any], text: str) -> None:
    """With what was expected, in the user's names."""
    further = """
    void other(const double *x, int n, const double *a) {}
    void single(const double *x, int n, float *r) { r[0] = x[0]; }
    static void hidden(const double *x, int n, double *r) { r[0] = x[0]; }
    void user(const double *x, double *r) { hidden(x, 1, r); }
    """
    with pytest.raises(CompileError) as caught:
        enzyme(write(SYSTEM + further), "f", "a[n,n], b[n] -> y[n]", derivatives={"solve": rule})
    assert text in str(caught.value)


def test_a_residual_that_is_not_what_is_solved_is_found_out(write: Write) -> None:
    """By the check of the first gradient."""
    wrong = BISECTION.replace(
        "double f(", "double other(double x, double e, double m) { return x - e - m; }\ndouble f("
    )
    f = enzyme(write(wrong), "f", derivatives={"solve": implicit("other")})
    with pytest.raises(ffgrad.DifferentiationError) as caught:
        f.grad(0.3, 1.1)
    assert "`solve`" in str(caught.value)


def test_numbers_of_single_precision_by_value(write: Write) -> None:
    """Such an argument must not reach Enzyme as a double."""
    text = """
    float residual(float x, float p, float q) { return x * x + q * x - p; }
    float solve(float p, float q) { float x = 1; for (int i = 0; i < 30; i++) x -= (x * x + q * x - p) / (2 * x + q); return x; }
    float f(float p, float q) { return solve(p, q); }
    """
    f = enzyme(write(text), "f", derivatives={"solve": implicit("residual")})
    p, q = np.float32(3), np.float32(0.5)
    x, (dp, dq) = f.value_and_grad(p, q, argnums=(0, 1))
    assert np.isclose(dp, 1 / (2 * x + q), rtol=1e-5)
    assert np.isclose(dq, -x / (2 * x + q), rtol=1e-5)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"implicit": "residual", "kind": "rot"}, "the rule of `solve` has no kind `rot`: did you mean `root`?"),
        ({"implicit": "residual", "sizes": 2}, "the rule of `solve` has no member `sizes`: did you mean `size`?"),
    ],
)
def test_misspelled_rules_have_hints(write: Write, rule: dict[str, Any], text: str) -> None:
    """As JSON brings them; Python's own function says so at once."""
    with pytest.raises(TypeError) as caught:
        enzyme(write(SYSTEM), "f", derivatives={"solve": rule})
    assert text in str(caught.value)
    with pytest.raises(ValueError, match="there is no kind 'rot': did you mean 'root'"):
        implicit("residual", kind="rot")


def test_a_static_residual_that_nothing_calls_is_explained(write: Write) -> None:
    """The compiler leaves it out."""
    text = BISECTION.replace(
        "double kepler(", "static double unused(double x, double e, double m) { return x; }\ndouble kepler("
    )
    with pytest.raises(CompileError) as caught:
        enzyme(write(text), "f", derivatives={"solve": implicit("unused")})
    assert "where `unused` is static and nothing calls it, it is left out. Leave out `static`." in str(caught.value)
