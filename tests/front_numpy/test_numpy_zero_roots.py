"""Where a root's argument is zero, and its derivative is taken as 0: what the function's slope is decides whether that is told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import ffgrad
import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write

SOURCE = """
#include <math.h>
double half(double v) { double s = sqrt(v); return -0.5 * s * s; }
double plain(double v) { return sqrt(v); }
double mixed(const double* x) { return 3 * x[1] + sqrt(x[0]); }
double upper(double x) { return sqrt(1 - x); }
double many(const double* x, int n) { double s = 0; for (int i = 0; i < n; i++) s += sqrt(x[i]); return s; }
float single(float v) { float s = sqrtf(v); return s * s; }
double steep(double v) { double s = sqrt(v); return 0.01 * s * s + 1e5 * v * v * v; }
double smooth(double x) { return x * sqrt(x); }
double added(double x) { return x + x * sqrt(x); }
double norm(const double* x) { return sqrt(x[0] * x[0] + x[1] * x[1]); }
double away(double x) { return 2 / sqrt(x + 1); }
double bell(const double* x) { double r = sqrt(x[0] * x[0] + x[1] * x[1]); return exp(-r * r); }
double cube(const double* x) { double r = sqrt(x[0] * x[0] + x[1] * x[1]); return r * r * r; }
"""

#: name, other arguments, arguments at which a root is zero
TOLD = [
    ("half", 0.7, 0.0),
    ("plain", 0.7, 0.0),
    ("steep", 0.7, 0.0),
    ("upper", 0.7, 1.0),
    ("mixed", np.array([1.0, 2.0]), np.array([0.0, 2.0])),
    ("many", np.array([1.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0])),
    ("single", np.float32(0.7), np.float32(0.0)),
]
SILENT = [
    ("smooth", 0.7, 0.0, 0.0),
    ("added", 0.7, 0.0, 1.0),
    ("norm", np.array([3.0, 4.0]), np.zeros(2), np.zeros(2)),
    ("away", 0.7, 0.0, -1.0),
    ("cube", np.array([3.0, 4.0]), np.zeros(2), np.zeros(2)),
]
DOUBT = "on one side of these arguments only"


@pytest.fixture(autouse=True)
def no_warning() -> Iterator[None]:
    """A warning where none is expected is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ffgrad.GradientWarning)
        yield


@pytest.mark.parametrize(("name", "others", "zero"), TOLD, ids=[case[0] for case in TOLD])
def test_a_slope_that_is_not_zero_is_told_of_on_the_first_call_and_on_later_ones(
    write: Write, name: str, others: object, zero: object
) -> None:
    """Central differences are not finite there; those of one side are, or grow without bound."""
    source = write(SOURCE)
    with pytest.warns(ffgrad.GradientWarning, match=DOUBT):
        enzyme(source, name).grad(zero)
    later = enzyme(source, name, defines={"LATER": 1})
    later.grad(others)
    with pytest.warns(ffgrad.GradientWarning, match=DOUBT):
        later.grad(zero)


@pytest.mark.parametrize(("name", "others", "zero", "slope"), SILENT, ids=[case[0] for case in SILENT])
def test_a_slope_of_zero_and_a_norm_at_the_origin_are_not(
    write: Write, name: str, others: object, zero: object, slope: object
) -> None:
    """Both modes and the differences agree, or both sides of a norm do."""
    source = write(SOURCE)
    assert np.array_equal(enzyme(source, name).grad(zero), slope)
    later = enzyme(source, name, defines={"LATER": 1})
    later.grad(others)
    assert np.array_equal(later.grad(zero), slope)


def test_strict_refuses_it_in_later_calls_too(write: Write) -> None:
    """The error says what differences on that side give."""
    f = enzyme(write(SOURCE), "half", verify="strict")
    assert f.grad(0.7) == -0.5
    with pytest.raises(ffgrad.DifferentiationError, match=DOUBT):
        f.grad(0.0)


def test_a_hessian_at_the_origin_of_a_distance(write: Write) -> None:
    """The first derivative of `exp(-r * r)` is right there, the second is taken as 0; that of `r * r * r` is 0."""
    source = write(SOURCE)
    # One for each row of the Hessian: the first has the numbers.
    warnings.filterwarnings("ignore", "the gradient of `bell` is doubtful at these arguments, too")
    with pytest.warns(ffgrad.GradientWarning, match="finite differences of the gradient"):
        enzyme(source, "bell").hessian(np.zeros(2))
    later = enzyme(source, "bell", defines={"LATER": 1})
    x = np.array([0.3, 0.4])
    exact = (4 * np.outer(x, x) - 2 * np.eye(2)) * np.exp(-x @ x)
    assert np.allclose(later.hessian(x), exact, rtol=1e-12)
    # One for each row of the Hessian: the first has the numbers.
    warnings.filterwarnings("ignore", "the gradient of `bell` is doubtful at these arguments, too")
    with pytest.warns(ffgrad.GradientWarning, match="finite differences of the gradient"):
        later.hessian(np.zeros(2))
    assert not enzyme(source, "cube").hessian(np.zeros(2)).any()
