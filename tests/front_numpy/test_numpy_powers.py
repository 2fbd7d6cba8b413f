"""Powers whose exponents are kept beside active numbers: of negative numbers, against the closed form."""

from __future__ import annotations

import numpy as np
import pytest
from ffgrad import GradientWarning
from ffgrad.numpy import enzyme
from support.fixtures import Write

TERMS = """\
#include <cmath>
#include <vector>
struct Term { double coefficient, exponent; };
double sum(double x, double c) {
    std::vector<Term> terms = {{1.5, 2}, {c, 3}, {-0.7, 1}};
    double s = 0;
    for (const Term &t : terms) s += t.coefficient * std::pow(x, t.exponent);
    return s;
}
double power(double x, double n) { return std::pow(x, n); }
"""


def test_exponents_beside_coefficients(write: Write) -> None:
    """Forward mode would multiply the logarithm of a negative number by 0."""
    f = enzyme(write(TERMS, "terms.cpp"), "sum", "x, c -> return")
    for x in (-0.4, 1.3, -2.0, 0.0):
        by_x, by_c = f.vjp(x, 0.3)[1](1.0)
        np.testing.assert_allclose([by_x, by_c], [3 * x + 0.9 * x * x - 0.7, x**3], atol=1e-14)


def test_no_number_by_the_exponent_of_a_negative_number(write: Write) -> None:
    """There the power has no derivative by its exponent, and says so."""
    f = enzyme(write(TERMS, "terms.cpp"), "power", "x, n -> return")
    with pytest.warns(GradientWarning, match="not finite"):
        by_x, by_n = f.vjp(-0.4, 2.0)[1](1.0)
    np.testing.assert_allclose(by_x, -0.8, atol=1e-14)
    assert np.isnan(by_n)
