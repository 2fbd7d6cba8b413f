"""Verification follows the path in the NumPy front end too: what is wrong at later values only is refused, or right."""

from __future__ import annotations

import ffgrad
import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write
from support.paths import SLOTS, SLOTS_OPTIONS, SLOTS_SIGNATURE, points, slots_by_hand


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("order", ["vjp", "hvp"])
def test_a_wrong_gradient_at_later_values_is_never_returned(write: Write, order: str) -> None:
    """In first and in second derivatives, which repeat the reverse mode."""
    op = enzyme(write(SLOTS), "toggle", SLOTS_SIGNATURE, **SLOTS_OPTIONS)
    for x in points(4):
        given = np.array(x)
        try:
            if order == "vjp":
                _, pullback = op.vjp(given)
                (made,) = pullback(np.ones(8))
                np.testing.assert_allclose(made, slots_by_hand(x), rtol=1e-9)
            else:
                made = op.hvp((given,), (given,), np.ones(8))
                step = 1e-6 * given
                ends = (np.array(slots_by_hand((given + s).tolist())) for s in (step, -step))
                np.testing.assert_allclose(np.ravel(made), np.subtract(*ends) / 2e-6, rtol=1e-5, atol=1e-6)
        except ffgrad.DifferentiationError as refusal:
            assert refusal.code == "unproven-gradient"  # noqa: PT017


ENDS = """\
#include <cassert>
#include <cstdlib>
extern "C" {
double leaves(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] < 0) exit(3);
        sum += x[i] * x[i];
    }
    return sum;
}
double aborts(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (int(x[i]) > 4 || x[i] < 0) abort();
        sum += x[i] * x[i];
    }
    return sum;
}
double asserts(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        assert(x[i] >= 0);
        sum += x[i] * x[i];
    }
    return sum;
}
double classes(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        switch (int(x[i] + 1)) {
            case 1: sum += 2 * x[i]; break;
            case 2: case 3: sum += x[i] * x[i]; break;
            default: exit(4);
        }
    }
    return sum;
}
}
"""
SAID = {"leaves": "exit status 3", "aborts": "abort", "asserts": "Assertion", "classes": "exit status 4"}


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("function", SAID)
def test_a_function_that_ends_the_program_at_later_values_is_an_error_of_the_gradient(
    write: Write, function: str
) -> None:
    """Enzyme and LLVM take the branch to `exit` as never taken: without a condition of its own the path would not be seen."""
    op = enzyme(write(ENDS, "ends.cpp"), function, "x[n] -> return")
    good, bad = np.array([0.5, 1.5]), np.array([0.5, -1.5])
    expected = np.array([2.0, 3.0]) if function == "classes" else 2 * good
    for _ in range(2):
        np.testing.assert_allclose(op.grad(good), expected)
        with pytest.raises(ffgrad.ForeignError, match=SAID[function]):
            op.grad(bad)
