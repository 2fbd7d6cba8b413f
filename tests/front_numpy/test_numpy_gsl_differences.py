"""GSL's numerical derivatives: the values are GSL's, the gradients are compared with closed forms.

Differences of these values are too noisy to check a gradient: one-sided ones end at relative errors of 1e-7.
"""

from __future__ import annotations

import ctypes.util
from pathlib import Path

import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write

pytestmark = pytest.mark.skipif(
    ctypes.util.find_library("gsl") is None or not Path("/usr/include/gsl").is_dir(), reason="needs libgsl-dev"
)

SOURCE = """
#include <gsl/gsl_deriv.h>
#include <math.h>
typedef struct { double rate, turn; } wave;
static double at_time(double t, void *given) {
  const wave *w = given;
  return exp(-w->rate * t) * sin(w->turn * t);
}
double slope(double t, double rate, double turn) {
  wave w = {rate, turn};
  gsl_function f = {at_time, &w};
  double value, error;
  gsl_deriv_KIND(&f, t, 0.05, &value, &error);
  return value;
}
"""


def slope(t: float, a: float, b: float) -> float:
    """Return the derivative of exp(-a t) sin(b t) by t."""
    return float(np.exp(-a * t) * (b * np.cos(b * t) - a * np.sin(b * t)))


def gradient(t: float, a: float, b: float) -> np.ndarray:
    """Return that of the slope by t, a and b."""
    e, s, c = np.exp(-a * t), np.sin(b * t), np.cos(b * t)
    by_time = -a * (b * c - a * s) - b * b * s - a * b * c
    by_rate = -t * (b * c - a * s) - s
    by_turn = c - b * t * s - a * t * c
    return np.array(e * np.array([by_time, by_rate, by_turn]))


@pytest.mark.parametrize("kind", ["central", "forward", "backward"])
def test_the_gradient_of_a_difference_is_that_of_the_slope(write: Write, kind: str) -> None:
    """By the place and by the parameters of the function; forward mode gives the same."""
    f = enzyme(write(SOURCE.replace("KIND", kind)), "slope", libraries=["gsl", "gslcblas"])
    for at in ((0.7, 0.4, 1.3), (0.2, 1.1, 0.6), (1.5, -0.3, 2.1)):
        value, found = f.value_and_grad(*at, argnums=(0, 1, 2))
        assert np.isclose(value, slope(*at), rtol=1e-5)
        np.testing.assert_allclose(found, gradient(*at), rtol=1e-7, atol=1e-8)
        direction = (0.3, -1.0, 0.5)
        np.testing.assert_allclose(f.jvp(at, direction)[1], np.dot(found, direction), rtol=1e-9)
