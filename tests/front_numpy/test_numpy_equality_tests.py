"""Programs that skip work where numbers are equal: the derivative is that of unequal numbers, where the function's value is the same.

The derivative of a skipped `row -= f * top` by f is -top, and not 0. Expected values are central differences of the function itself, which leave the
single value on both sides, and closed forms.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from ffgrad.errors import GradientWarning
from ffgrad.numpy import Enzyme, enzyme

SOURCE = r"""
#include <math.h>
double solve(const double *a, const double *b, int n) {
  double m[16][16], x[16], sum = 0;
  for (int i = 0; i < n; i++) {
    x[i] = b[i];
    for (int j = 0; j < n; j++) m[i][j] = a[i * n + j];
  }
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      double f = m[i][k] / m[k][k];
      if (f == 0) continue;
      for (int j = k; j < n; j++) m[i][j] -= f * m[k][j];
      x[i] -= f * x[k];
    }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) x[i] -= m[i][j] * x[j];
    x[i] /= m[i][i];
    sum += x[i] * x[i];
  }
  return sum;
}
void lower_solve(const double *a, const double *b, double *x, int n) {
  for (int i = 0; i < n; i++) x[i] = b[i];
  for (int k = 0; k < n; k++) {
    if (x[k] != 0) {
      x[k] /= a[k * n + k];
      for (int i = k + 1; i < n; i++) x[i] -= x[k] * a[i * n + k];
    }
  }
}
double rotations(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double c, s;
    if (b[i] == 0) {
      c = 1;
      s = 0;
    } else {
      double r = sqrt(a[i] * a[i] + b[i] * b[i]);
      c = a[i] / r;
      s = b[i] / r;
    }
    sum += 3 * c + 2 * s * (i + 1);
  }
  return sum;
}
double solve_small(const double *a, const double *b, int n) {
  double m[16][16], x[16], sum = 0;
  for (int i = 0; i < n; i++) {
    x[i] = b[i];
    for (int j = 0; j < n; j++) m[i][j] = a[i * n + j];
  }
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) {
      if (i == k || fabs(m[i][k]) < 1e-12) continue;
      double f = m[i][k] / m[k][k];
      for (int j = k; j < n; j++) m[i][j] -= f * m[k][j];
      x[i] -= f * x[k];
    }
  for (int i = 0; i < n; i++) sum += x[i] / m[i][i] * (i + 1);
  return sum;
}
double clipped(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (i + 1) * (fabs(x[i] - 1) < 1e-7 ? 1 : x[i] * x[i]);
  return sum;
}
double product(const double *a, const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    if (x[i] == 0 || a[i] == 0) continue;
    sum += a[i] * x[i] * (i + 1);
  }
  return sum;
}
double bernoulli(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (i + 1) * (x[i] == 0 ? 1 : x[i] / (exp(x[i]) - 1));
  return sum;
}
double jump(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] == 0 ? 5 : x[i] * x[i] + x[i];
  return sum;
}
double until_equal(double a) {
  double x = a, before;
  do {
    before = x;
    x = 0.5 * (x + a / x);
  } while (x != before);
  return x;
}
double both(const double *a, const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    if (a[i] != 0) sum += a[i] * (i + 1) + a[i] * a[i];
    sum += x[i] == 0 ? 1 : x[i] / (exp(x[i]) - 1);
  }
  return sum;
}
"""

Make = Callable[..., Enzyme]


@pytest.fixture(params=["once", "strict"])
def make(tmp_path: Path, request: pytest.FixtureRequest) -> Make:
    """Opens a function of the source, with warnings and with refusals."""
    source = tmp_path / "equality.c"
    source.write_text(SOURCE)

    def opened(function: str, signature: str) -> Enzyme:
        return enzyme(source, function, signature, verify=request.param)

    return opened


@pytest.fixture(autouse=True)
def _no_warning() -> Iterator[None]:
    """A warning is an error, unless a test asks for one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", GradientWarning)
        yield


def differences(f: Callable[[np.ndarray], float], x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of a function of one array."""
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[i] += step
        behind[i] -= step
        found[i] = (f(ahead) - f(behind)) / (2 * step)
    return found


def matrix(n: int) -> np.ndarray:
    """A matrix with a strong diagonal."""
    return np.random.default_rng(1).standard_normal((n, n)) + 4 * np.eye(n)


@pytest.mark.parametrize("zeros", [[(3, 0)], [(1, 0), (5, 0), (5, 1)]])
@pytest.mark.parametrize("is_first", [True, False], ids=["first call", "later call"])
def test_an_elimination_that_skips_zeros(make: Make, zeros: list[tuple[int, int]], is_first: bool) -> None:
    """By the matrix, whose zeros are factors of zero, against differences; at the first call, and after one without zeros."""
    f = make("solve", "a[n,n], b[n] -> return")
    a, b = matrix(7), np.random.default_rng(2).standard_normal(7)
    if not is_first:
        np.testing.assert_allclose(f.grad(a, b), differences(lambda m: f(m, b), a), rtol=1e-6, atol=1e-7)
    for place in zeros:
        a[place] = 0
    np.testing.assert_allclose(f.grad(a, b), differences(lambda m: f(m, b), a), rtol=1e-6, atol=1e-7)


def test_an_elimination_with_a_tolerance(make: Make) -> None:
    """Gauss and Jordan with `fabs(m) < 1e-12`: sum(w x) has the gradient inv(A)' w by b, and the matrix -inv(A)' w x' by A."""
    f = make("solve_small", "a[n,n], b[n] -> return")
    a, b, w = matrix(6), np.random.default_rng(2).standard_normal(6), np.arange(1.0, 7)
    a[3, 0] = a[0, 5] = 0
    a[2, 4] = 1e-14
    by_a, by_b = f.grad(a, b, argnums=(0, 1))
    expected = np.linalg.solve(a.T, w)
    np.testing.assert_allclose(by_b, expected, rtol=1e-11)
    np.testing.assert_allclose(by_a, -np.outer(expected, np.linalg.solve(a, b)), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("is_first", [True, False], ids=["first call", "later call"])
def test_a_choice_in_a_narrow_range(make: Make, is_first: bool) -> None:
    """x^2 with 1 for all that is within 1e-7 of 1: a choice between numbers, which is a path for all that."""
    f = make("clipped", "x[n] -> return")
    x = np.random.default_rng(3).uniform(2, 3, 500)
    if not is_first:
        np.testing.assert_allclose(f.grad(x), 2 * x * np.arange(1, 501), rtol=1e-14)
    x[77] = 1
    np.testing.assert_allclose(f.grad(x), 2 * x * np.arange(1, 501), rtol=1e-14)


def test_a_triangular_solve_that_skips_zeros(make: Make) -> None:
    """As the reference BLAS does: x = inv(A) b, so that the gradient of sum(w x) by b is inv(A)' w, at zeros too."""
    f = make("lower_solve", "a[n,n], b[n] -> x[n]")
    a, b, w = np.tril(matrix(6)), np.array([1.0, 0.0, -2.0, 0.5, 0.0, 3.0]), np.linspace(1, 2, 6)
    b[1] = a[1, 0] / a[0, 0]  # x[1] is 0 by cancellation
    x, pullback = f.vjp(a, b)
    np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-12, atol=1e-14)
    by_a, by_b = pullback(w)
    expected = np.linalg.solve(a.T, w)
    np.testing.assert_allclose(by_b, expected, rtol=1e-12)
    np.testing.assert_allclose(by_a, -np.tril(np.outer(expected, np.linalg.solve(a, b))), rtol=1e-10, atol=1e-12)


def test_rotations_of_what_is_turned_already(make: Make) -> None:
    """Givens rotations with b = 0: s = b / r changes by 1 / a."""
    f = make("rotations", "a[n], b[n] -> return")
    a, b = np.linspace(1, 3, 5), np.array([0.3, 0.0, -0.4, 0.0, 1.0])
    np.testing.assert_allclose(f.grad(a, b, argnums=1)[[1, 3]], [4 / a[1], 8 / a[3]], rtol=1e-12)


def test_a_combined_condition(make: Make) -> None:
    """Either factor of zero skips a product; both have the other as their derivative."""
    f = make("product", "a[n], x[n] -> return")
    a, x = np.array([1.0, 0.0, 2.0, 3.0]), np.array([0.0, 5.0, -1.0, 4.0])
    by_a, by_x = f.grad(a, x, argnums=(0, 1))
    weights = np.arange(1, 5)
    np.testing.assert_allclose(by_a, x * weights, rtol=1e-14)
    np.testing.assert_allclose(by_x, a * weights, rtol=1e-14)


def test_an_iteration_that_ends_on_equality_ends(make: Make) -> None:
    """Heron's root: the loop has to stop, and its derivative is 1 / (2 sqrt a)."""
    f = make("until_equal", "a -> return")
    np.testing.assert_allclose(f.grad(3.0), 0.5 / np.sqrt(3), rtol=1e-12)


@pytest.mark.parametrize(("function", "x"), [("bernoulli", [0.7, 0.0, -0.3]), ("jump", [0.7, 0.0, -0.3])])
def test_a_value_that_only_the_branch_has_is_not_passed_over(tmp_path: Path, function: str, x: list[float]) -> None:
    """The other edge is 0/0, or the value is one of its own: there is a warning."""
    source = tmp_path / "equality.c"
    source.write_text(SOURCE)
    f = enzyme(source, function, "x[n] -> return")
    with pytest.warns(GradientWarning, match="doubtful"):
        f.grad(np.array(x))


def test_what_is_right_at_one_value_is_not_taken_for_right_at_another(tmp_path: Path) -> None:
    """After a call that needs unequal numbers, a call that needs the branch has its value and a warning, and no NaN."""
    source = tmp_path / "equality.c"
    source.write_text(SOURCE)
    f = enzyme(source, "both", "a[n], x[n] -> return")
    a, x = np.array([1.0, 0.0, 2.0]), np.array([0.5, -0.5, 1.5])
    np.testing.assert_allclose(f.grad(a, x), np.arange(1, 4) + 2 * a, rtol=1e-12)
    x[1] = 0
    with pytest.warns(GradientWarning, match="doubtful"):
        gradient = f.grad(np.array([1.0, 3.0, 2.0]), x, argnums=1)
    assert np.isfinite(gradient).all()
    np.testing.assert_allclose(f.grad(a, np.array([0.5, -0.5, 1.5])), np.arange(1, 4) + 2 * a, rtol=1e-12)


def test_work_that_is_skipped_in_memory_that_grows(tmp_path: Path) -> None:
    """`realloc` needs the pipeline that keeps types apart; the one for special values prepares the code in the same way."""
    source = tmp_path / "columns.c"
    source.write_text(
        r"""
        #include <stdlib.h>
        struct column { double *values; int count, room; };
        static void push(struct column *c, double value) {
          if (c->count == c->room) {
            c->room = 2 * c->room + 1;
            c->values = realloc(c->values, c->room * sizeof(double));
          }
          c->values[c->count++] = value;
        }
        void forward(const double *a, const double *b, double *x, int n) {
          struct column c = {0, 0, 0};
          for (int i = 0; i < n * n; i++) push(&c, a[i]);
          for (int i = 0; i < n; i++) x[i] = b[i];
          for (int k = 0; k < n; k++)
            if (x[k] != 0) {
              x[k] /= c.values[k * n + k];
              for (int i = k + 1; i < n; i++) x[i] -= x[k] * c.values[i * n + k];
            }
          free(c.values);
        }
        """
    )
    f = enzyme(source, "forward", "a[n,n], b[n] -> x[n]")
    a = np.array([[2.0, 0, 0], [0.5, 1.5, 0], [-0.3, 0.7, 2.5]])
    for b in (np.array([1.0, 0.4, -0.2]), np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_allclose(f.jacobian(a, b, argnums=1), np.linalg.inv(a), rtol=1e-12, atol=1e-12)
