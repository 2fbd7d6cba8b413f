"""Checkpointed loops over memory that one line allocates several times: vectors that have grown."""

from __future__ import annotations

import numpy as np
import pytest
from ffgrad.errors import DifferentiationError
from ffgrad.numpy import enzyme
from support.fixtures import Write

SIGNATURE = "u[n], const c[n], steps -> u[n]"
HEAD = """\
#include <cmath>
#include <cstdlib>
#include <vector>
#include <ffgrad/derivatives.h>
"""
STEP = "for (int i = 0; i < n; i++) {0}[i] = 0.9 * {0}[i] + 0.1 * std::sin(c[i] * {0}[(i + 1) % n]);"


def program(before: str, loop: str, after: str = "") -> str:
    """One function around a loop."""
    body = f"  {before}\n  FFGRAD_CHECKPOINT(3);\n  {loop}\n  {after}\n"
    return HEAD + 'extern "C" void run(double *u, const double *c, int n, int steps) {\n' + body + "}\n"


GROWN = program(
    "std::vector<double> v; for (int i = 0; i < n; i++) v.push_back(u[i] * c[i]);",
    f"for (int s = 0; s < steps; s++) {STEP.format('v')}",
    "for (int i = 0; i < n; i++) u[i] = v[i];",
)


def test_a_vector_that_push_back_filled_before_the_loop(write: Write) -> None:
    """Its memory is allocated again and again by one line: against differences, and by the dot-product identity."""
    f = enzyme(write(GROWN, "grown.cpp"), "run", SIGNATURE)
    random = np.random.default_rng(3)
    for n in (1, 2, 7):
        u, c, direction, weights = random.normal(size=n), 0.5 + random.random(n), *random.normal(size=(2, n))
        result, pullback = f.vjp(u, c, 20)
        given = pullback(weights)
        reverse = np.asarray(given[0] if isinstance(given, tuple) else given) @ direction
        assert f.checkpointing() is not None
        _, tangent = f.jvp((u, c, 20), (direction, None, None))
        assert reverse == pytest.approx(weights @ np.asarray(tangent), rel=1e-11)
        ahead, behind = f(u + 1e-6 * direction, c, 20), f(u - 1e-6 * direction, c, 20)
        assert reverse == pytest.approx(weights @ (ahead - behind) / 2e-6, rel=1e-6, abs=1e-8)
        assert np.shape(result) == (n,)


SEVERAL = "double *now = 0, *old = 0; for (int k = 0; k < 2; k++) {{ old = now; now = (double *)std::malloc({}); for (int i = 0; i < n; i++) now[i] = (k + 1) * u[i]; }}"
SHARED = program(
    SEVERAL.format("n * sizeof(double)"),
    "for (int s = 0; s < steps; s++) for (int i = 0; i < n; i++) { old[i] = 0.9 * old[i] + std::sin(now[i]); now[i] *= c[i]; }",
    "for (int i = 0; i < n; i++) u[i] = old[i] + now[i];",
)


def test_two_arrays_of_one_allocation_are_refused(write: Write) -> None:
    """Only one of them would be restored."""
    f = enzyme(write(SHARED, "model.cpp"), "run", SIGNATURE)
    with pytest.raises(DifferentiationError) as error:
        f.vjp(np.linspace(0.3, 1.2, 5), np.ones(5), 5)[1](np.ones(5))
    assert "one line of the program allocates several times" in str(error.value)
    assert error.value.code == "checkpoint" and "model.cpp:" in str(error.value)
