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
