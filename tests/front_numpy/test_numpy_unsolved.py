"""Solvers with the implicit function theorem's derivative that do not solve in a call: an error, never a gradient.

``steps`` limits the solver's iterations and ``most`` bounds its solution, so that a call solves or does not by the caller's values.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from ffgrad import implicit
from ffgrad.errors import DifferentiationError
from ffgrad.numpy import enzyme
from support.fixtures import Write

ROOT = """
#include <math.h>
double residual(double x, double p) { return x * exp(x) - p; }
double solve(double p, int steps, double most) {
  double x = 0.5;
  for (int i = 0; i < steps; i++) {
    x -= (x * exp(x) - p) / (exp(x) * (1 + x));
    if (x > most) x = most;
  }
  return x;
}
double f(double p, int steps, double most) { double x = solve(p, steps, most); return x * x; }
void rows(const double *p, int n, int steps, double most, double *y) {
  for (int i = 0; i < n; i++) y[i] = solve(p[i], steps, most);
}
"""
RULE = {"solve": implicit("residual")}

# An unknown of 1e-9, one of 1e6, and one that is zero, in units of their own; coupled.
SYSTEM = """
void residual(const double *x, int n, const double *b, double *r) {
  r[0] = 1e9 * x[0] + 0.1e-6 * x[1] - b[0];
  r[1] = 1e-6 * x[1] + 0.3e9 * x[0] - b[1];
  r[2] = x[2] + 0.2e9 * x[0] - b[2];
}
void solve(double *x, int n, const double *b, int steps) {
  for (int i = 0; i < n; i++) x[i] = 0;
  for (int k = 0; k < steps; k++) {
    x[0] = (b[0] - 0.1e-6 * x[1]) * 1e-9;
    x[1] = (b[1] - 0.3e9 * x[0]) * 1e6;
    x[2] = b[2] - 0.2e9 * x[0];
  }
}
void f(const double *b, int n, int steps, double *y) {
  double x[3];
  solve(x, 3, b, steps);
  y[0] = x[0] * 1e9; y[1] = x[1] * 1e-6; y[2] = x[2];
}
"""


def slope(p: float) -> float:
    """Return the derivative of the squared root of x exp(x) = p."""
    x = 0.5
    for _ in range(60):
        x -= (x * np.exp(x) - p) / (np.exp(x) * (1 + x))
    return 2 * x / (np.exp(x) * (1 + x))


@pytest.fixture
def f(write: Write) -> Any:
    """Return the function with one root."""
    return enzyme(write(ROOT), "f", "p, steps, most -> return", derivatives=RULE)


@pytest.mark.parametrize(("steps", "most"), [(1, 9.0), (2, 9.0), (3, 9.0), (50, 0.7)])
def test_a_later_call_that_does_not_converge_or_ends_at_a_bound_is_an_error(f: Any, steps: int, most: float) -> None:
    """The first call is verified and right; forward, reverse and second derivatives of a later one are refused alike."""
    assert np.isclose(f.grad(5.0, 50, 9.0), slope(5.0))
    assert np.isclose(f.hessian(5.0, 50, 9.0), (slope(5.001) - slope(4.999)) / 0.002, rtol=1e-5)
    for call in (f.grad, f.hessian, lambda *at: f.jvp(at, (1.0, None, None))):
        with pytest.raises(DifferentiationError, match="has not solved `residual` in this call of `f`") as caught:
            call(5.0, steps, most)
        assert caught.value.code == "implicit-unsolved"
    assert np.isfinite(f(5.0, steps, most))
    assert np.isclose(f.grad(5.0, 50, 9.0), slope(5.0))


def test_the_message_has_solver_residual_line_step_and_what_to_do(f: Any) -> None:
    """Word for word."""
    with pytest.raises(DifferentiationError) as caught:
        f.grad(5.0, 50, 0.75)
    assert str(caught.value).splitlines() == [
        "`solve` has not solved `residual` in this call of `f`: the Newton step from x = 7.500000e-1 is 9.2e-1",
        "  f.c:3  |  double residual(double x, double p) { return x * exp(x) - p; }",
        "  The implicit derivative holds at a solution alone, to a relative 1e-4. Give `solve` more iterations, a smaller tolerance or wider"
        ' bounds; or allow more, implicit("residual", tolerance=...).',
        "  `ffgrad explain custom-derivatives` says how a solution is judged.",
    ]


def test_the_first_call_is_refused_so_too(f: Any) -> None:
    """And no later one that solves."""
    with pytest.raises(DifferentiationError, match="has not solved"):
        f.grad(5.0, 1, 9.0)
    assert np.isclose(f.grad(5.0, 50, 9.0), slope(5.0))


@pytest.mark.parametrize("options", [{"verify": "off"}, {"mode": "tape"}, {"arena": False}, {"math": "fast"}])
def test_no_option_lets_it_through(write: Write, options: dict[str, Any]) -> None:
    """Nor does a tape, of which the forward call is the one that fails."""
    f = enzyme(write(ROOT), "f", "p, steps, most -> return", derivatives=RULE, **options)
    assert np.isclose(f.grad(5.0, 50, 9.0), slope(5.0))
    with pytest.raises(DifferentiationError, match="has not solved"):
        f.grad(5.0, 2, 9.0)


def test_an_element_of_a_batch_and_a_call_among_several_are_found(write: Write) -> None:
    """With its place in the batch; values are returned as they are."""
    source = write(ROOT)
    f = enzyme(source, "f", "p[...], steps, most[...] -> return[...]", derivatives=RULE)
    p, most = np.array([1.0, 5.0, 2.0, 5.0]), np.array([9.0, 9.0, 9.0, 0.75])
    good = p[:3], 50, most[:3]
    assert np.allclose(f.vjp(*good)[1](np.ones(3))[0], [slope(x) for x in p[:3]])
    with pytest.raises(DifferentiationError, match="is 9.2e-1, at element 3 of the batch"):
        f.vjp(p, 50, most)[1](np.ones(4))
    rows = enzyme(source, "rows", "p[n], steps, most -> y[n]", derivatives=RULE)
    assert rows.jacobian(p[:3], 50, 9.0).shape == (3, 3)
    with pytest.raises(DifferentiationError, match="has not solved"):
        rows.jacobian(p, 50, 1.0)


def test_units_do_not_matter_and_an_unknown_of_zero_has_the_scale_of_its_equations(write: Write) -> None:
    """An unknown of 1e-9 that is wrong by a hundredth is found, one of zero beside others is not taken for wrong."""
    f = enzyme(write(SYSTEM), "f", "b[n], steps -> y[n]", derivatives={"solve": implicit("residual", size="n")})
    wanted = np.linalg.inv(np.array([[1, 0.1, 0], [0.3, 1, 0], [0.2, 0, 1]]))
    b = np.array([1.0, 2.0, 0.2 * (wanted @ [1, 2, 0])[0]])
    assert abs(f(b, 40)[2]) < 1e-15
    for steps in (40, 5):
        assert np.allclose(f.jacobian(b, steps), wanted, atol=1e-12)
    with pytest.raises(DifferentiationError, match=r"the Newton step from x\[0\] = .* is"):
        f.jacobian(b, 1)


@pytest.mark.parametrize("p", [0.0, 1e-30])
def test_a_root_at_zero_is_a_solution(write: Write, p: float) -> None:
    """Bisection leaves 1e-10 there, Newton's method anything smaller: no relative error is small."""
    text = """
    #include <math.h>
    double residual(double x, double p) { return sin(x) + x - p; }
    double halved(double p) {
      double low = -1, high = 1.1;
      while (high - low > 1e-10) { double x = 0.5 * (low + high); if (sin(x) + x > p) high = x; else low = x; }
      return 0.5 * (low + high);
    }
    double newton(double p) { double x = 1; for (int i = 0; i < 5; i++) x -= (sin(x) + x - p) / (cos(x) + 1); return x; }
    """
    for solver in ("halved", "newton"):
        f = enzyme(write(text), solver, derivatives={solver: implicit("residual")})
        f.grad(0.4)
        assert np.isclose(f.grad(p), 0.5)


def test_a_singular_jacobian_is_an_error(write: Write) -> None:
    """Exactly singular, and singular but for rounding; a merely ill-conditioned one is not."""
    text = """
    void residual(const double *x, int n, double p, double q, double *r) {
      r[0] = 0.1 * x[0] + 0.3 * x[1] - p;
      r[1] = (0.2 + q) * x[0] + 0.6 * x[1] - 2 * p - q;
    }
    void solve(double *x, int n, double p, double q) { x[0] = 1; x[1] = (p - 0.1) / 0.3; }
    double f(double p, double q) { double x[2]; solve(x, 2, p, q); return x[0] + x[1]; }
    """
    f = enzyme(write(text), "f", "p, q -> return", derivatives={"solve": implicit("residual", size="n")}, verify="off")
    assert np.isclose(f.grad(1.0, 1e-3), 1 / 0.3)
    assert np.isclose(f.grad(1.0, 1e-9), 1 / 0.3, rtol=1e-5)
    for q in (0.0, 1e-17, 1e-16):
        with pytest.raises(DifferentiationError, match="the Jacobian of `residual` is singular where `solve` ends"):
            f.grad(1.0, q)


def test_threads_of_a_parallel_region_report_too(write: Write) -> None:
    """The report of a thread of the team reaches the call."""
    text = (
        ROOT
        + """
    void many(const double *p, int n, int steps, double most, double *y) {
      #pragma omp parallel for num_threads(2)
      for (int i = 0; i < n; i++) y[i] = solve(p[i], steps, most);
    }
    """
    )
    f = enzyme(write(text), "many", "p[n], steps, most -> y[n]", derivatives=RULE, flags=["-fopenmp"], threads=2)
    p = np.linspace(1, 2, 8)
    assert np.all(np.isfinite(f.vjp(p, 50, 9.0)[1](np.ones(8))[0]))
    for place in (0, 7):
        at = copy.copy(p)
        at[place] = 50
        with pytest.raises(DifferentiationError, match="has not solved"):
            f.vjp(at, 50, 1.0)[1](np.ones(8))
    assert np.all(np.isfinite(f.vjp(p, 50, 9.0)[1](np.ones(8))[0]))


def test_a_tolerance_of_ones_own_allows_more(write: Write) -> None:
    """It is relative, and part of the key."""
    rule = {"solve": implicit("residual", tolerance=0.05)}
    f = enzyme(write(ROOT), "f", "p, steps, most -> return", derivatives=rule, verify="off")
    assert np.isclose(f.grad(5.0, 50, 9.0), slope(5.0))
    assert np.isclose(f.grad(5.0, 4, 9.0), slope(5.0), rtol=0.1)
    with pytest.raises(DifferentiationError, match="has not solved"):
        f.grad(5.0, 2, 9.0)
