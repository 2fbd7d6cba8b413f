"""Functions with infinite derivatives at their limits, of arguments that are kept inside them: the derivative there is 0, and never a NaN."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write

SOURCE = """
#include <math.h>
double angle(double x) { double c = x > 1 ? 1 : (x < -1 ? -1 : x); return acos(c) + x; }
double extremes(double x) { return acos(fmax(-1.0, fmin(1.0, x))) + x; }
double power(double x) { return pow(x > 0 ? x : 0, 0.75); }
double both(double x) { double s = fmin(fmax(x, 0.0), 1.0); return pow(s, 0.3) * pow(1 - s, 0.7); }
double entropy(double x) { return x > 0 ? x * log(x) : x; }
double nested(double x) {
  if (x < 2) {
    if (x > 1) return x * log(x - 1);
    return 2 * x;
  }
  return sqrt(x - 2) * x;
}
double table(const double* x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[n - 1 - i] * asin(x[i] > 1 ? 1.0 : x[i]);
  return sum;
}
"""


def inside(low: float, high: float, slope: Callable[[float], float], beyond: float) -> Callable[[float], float]:
    """A slope between two limits, and the one beyond both."""
    return lambda x: slope(x) if low < x < high else beyond


CASES: dict[str, tuple[Callable[[float], float], list[float]]] = {
    "angle": (inside(-1, 1, lambda x: 1 - (1 - x * x) ** -0.5, 1), [1.5, 0.5, -2.0, 1.5]),
    "extremes": (inside(-1, 1, lambda x: 1 - (1 - x * x) ** -0.5, 1), [1.5, 0.5, -2.0, 1.5]),
    "power": (inside(0, 9, lambda x: 0.75 * x**-0.25, 0), [-1.0, 0.5, -2.0]),
    "both": (inside(0, 1, lambda x: x**0.3 * (1 - x) ** 0.7 * (0.3 / x - 0.7 / (1 - x)), 0), [2.0, 0.5, -1.0, 2.0]),
    "entropy": (inside(0, 9, lambda x: np.log(x) + 1, 1), [-1.0, 2.0, -2.0]),
}


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("name", CASES)
def test_beyond_a_limit_the_slope_is_that_of_the_constant(write: Write, name: str) -> None:
    """In both modes, first outside or first inside."""
    slope, points = CASES[name]
    source = write(SOURCE)
    for order, all_points in ((0, points), (1, points[1:])):
        f = enzyme(source, name, defines={"ORDER": order})
        for x in all_points:
            assert f.grad(x) == pytest.approx(slope(x), rel=1e-12)
            assert f.jvp((x,), (2.0,))[1] == pytest.approx(2 * slope(x), rel=1e-12)


@pytest.mark.usefixtures("cache")
def test_nested_branches_and_products_with_other_inputs(write: Write) -> None:
    """Each function is finite on its own path only."""
    nested = enzyme(write(SOURCE), "nested")
    for x, slope in ((0.5, 2.0), (1.5, np.log(0.5) + 3), (3.0, 2.5), (0.25, 2.0)):
        assert nested.grad(x) == pytest.approx(slope, rel=1e-12)
    f = enzyme(write(SOURCE), "table")
    x = np.array([0.5, 2.0, 0.25, -0.5])
    kept = np.minimum(x, 1)
    slopes = np.divide(x[::-1], np.sqrt(1 - kept * kept), out=np.zeros(4), where=x < 1)
    assert np.allclose(f.grad(x), slopes + np.arcsin(kept)[::-1], rtol=1e-12)
