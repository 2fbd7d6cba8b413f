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


TEXTS = """\
#include <cmath>
#include <string>
extern "C" double logged(const double *x, int n) {
    std::string log = "levels:";
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double level = x[i] < 1 ? std::sin(x[i]) : std::exp(-x[i]);
        log += " " + std::to_string(level);
        log.insert(log.size() / 2, log.substr(i));
        log.replace(0, 1, log.c_str() + i);
        sum += level * level;
    }
    return log.empty() ? 0.0 : sum;
}
"""


@pytest.mark.usefixtures("cache")
def test_branches_inside_of_text_code_are_no_paths(write: Write) -> None:
    """Some follow addresses (whether a text is replaced by a part of itself), so that every call would be verified again."""
    op = enzyme(write(TEXTS, name="logged.cpp"), "logged", "x[n] -> return")
    rising = np.array([0.1, 0.2, 0.3])
    for _ in range(5):
        np.testing.assert_allclose(op.vjp(rising)[1](1.0)[0], np.sin(2 * rising), rtol=1e-12)
    assert op.path_checks()["checked"] == 0
    falling = np.array([1.1, 0.2, 2.3])
    expected = np.where(falling < 1, np.sin(2 * falling), -2 * np.exp(-2 * falling))
    np.testing.assert_allclose(op.vjp(falling)[1](1.0)[0], expected, rtol=1e-12)
    assert op.path_checks()["checked"] == 1
