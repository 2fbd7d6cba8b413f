"""Not-a-number in, not-a-number out: a derivative there is never 0."""

from __future__ import annotations

import numpy as np
import pytest
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import Write

pytestmark = pytest.mark.filterwarnings("ignore::ffgrad.errors.GradientWarning")

SOURCE = """
#include <math.h>
void root(const double* x, double* y) { *y = sqrt(*x); }
void rootf(const float* x, float* y) { *y = sqrtf(*x); }
void half(const double* x, double* y) { *y = pow(*x, 0.5); }
void power(const double* x, double* y) { *y = pow(*x, *x); }
void roots(const double* x, double* y) {
  double sum = 0;
  for (int i = 0; i < 3; i++) sum += sqrt(x[i]) * sqrt(sum + x[i]);
  *y = sum;
}
void step(double* x, const double* p) { x[0] = sqrt(x[0] - p[0]); }
/* The program's own question stays what it is: it holds for not-a-number, too. */
void guarded(const double* x, double* y) { *y = !(*x < 0 || *x > 0) ? 0 : sqrt(*x * *x); }
"""


@pytest.mark.parametrize("name", ["root", "half", "power"])
@pytest.mark.parametrize("math", ["contract", "strict"])
def test_a_root_of_nan_has_no_derivative(write: Write, name: str, math: str) -> None:
    """In every mode, without and with a check; at zero the root keeps the derivative 0."""
    f = enzyme(write(SOURCE), name, "x[1] -> y[1]", math=math)
    nan, one = np.array([np.nan]), np.ones(1)
    for x in (np.ones(1), nan):
        expected = np.isnan(x)
        assert np.isnan(f.vjp(x)[1](one)[0]) == expected
        assert np.isnan(f.jvp(x, one)[1]) == expected
        assert np.isnan(f.hvp(x, one, one)) == expected
    if name != "power":
        assert f.vjp(np.zeros(1))[1](one)[0] == 0


def test_single_precision_and_loops(write: Write) -> None:
    """Where roots and what they depend on are cached, and where a loop over steps runs into NaN."""
    source = write(SOURCE)
    single = enzyme(source, "rootf", "x[1] -> y[1]")
    assert np.isnan(single.vjp(np.array([np.nan], np.float32))[1](np.ones(1, np.float32))[0])
    several = enzyme(source, "roots", "x[3] -> y[1]")
    assert np.isnan(several.vjp(np.array([1.0, np.nan, 2.0]))[1](np.ones(1))[0]).all()
    for steps in (1, 2, 5):
        loop = enzyme(source, "step", "x[1], p[1] -> x[1]", repeat="t", sizes={"t": steps}, verify="off")
        x, p, one = np.array([0.3]), np.array([0.4]), np.ones(1)
        assert np.isnan(loop.jvp((x, p), (one, one))[1]).all()
        assert all(np.isnan(g).all() for g in loop.vjp(x, p)[1](one))


def test_a_comparison_of_the_program_keeps_its_meaning(write: Write) -> None:
    """Also in the derivative, whose own operations on not-a-number are not-a-number."""
    f: Enzyme = enzyme(write(SOURCE), "guarded", "x[1] -> y[1]")
    nan, one = np.array([np.nan]), np.ones(1)
    assert f(nan) == 0 and f.jvp(nan, one)[0] == 0
    assert f.vjp(np.array([-3.0]))[1](one)[0] == -1
