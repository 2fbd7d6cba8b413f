"""Functions with infinite derivatives at their limits, of arguments that are kept inside them, and powers of zero: never a NaN."""

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
double response(const double* dose, double half, double steepness, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double power = pow(dose[i], steepness);
    sum += (i + 1) * power / (pow(half, steepness) + power);
  }
  return sum;
}
float single(const float* x, float n, int count) {
  float sum = 0;
  for (int i = 0; i < count; i++) sum += powf(x[i], n) + n * x[i];
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


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("steepness", [1.0, 1.5, 2.0, 3.7])
def test_a_power_of_zero_does_not_change_with_its_exponent(write: Write, steepness: float) -> None:
    """The slope by the exponent is ``log(x) * x**n``, whose limit is 0; that by the basis is ``n * x**(n - 1)``."""
    f = enzyme(write(SOURCE), "response")
    half, dose = 1.5, np.array([0.0, 1.0, 0.0, 2.0])
    weights, inner = np.arange(1, 5), np.where(dose > 0, dose, 1.0)
    share = inner**steepness / (half**steepness + inner**steepness) * (dose > 0)
    by_dose = weights * np.where(dose > 0, share * (1 - share) * steepness / inner, (steepness == 1) / half)
    by_half = -np.sum(weights * share * (1 - share)) * steepness / half
    by_steepness = np.sum(weights * share * (1 - share) * np.log(inner / half))
    gradient = f.grad(dose, half, steepness, argnums=(0, 1, 2))
    for found, expected in zip(gradient, (by_dose, by_half, by_steepness), strict=True):
        assert np.allclose(found, expected, rtol=1e-12)
    assert f.jvp((dose, half, steepness), (0 * dose, 0.0, 1.0))[1] == pytest.approx(by_steepness, rel=1e-12)


@pytest.mark.usefixtures("cache")
def test_a_power_of_zero_in_single_precision(write: Write) -> None:
    f = enzyme(write(SOURCE), "single", "x[count], n -> return")
    by_x, by_n = f.grad(np.array([0, 2, 0], np.float32), np.float32(2), argnums=(0, 1))
    assert np.allclose(by_x, [2, 6, 2], rtol=1e-6)
    assert by_n == pytest.approx(4 * np.log(2) + 2, rel=1e-6)
