"""Verification follows the path in the JAX front end too: what is wrong at later values only is refused, or right."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.fixtures import Compile
from support.paths import SLOTS, SLOTS_OPTIONS, SLOTS_SIGNATURE, points, slots_by_hand


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("transform", ["grad", "jit", "vmap"])
def test_a_wrong_gradient_at_later_values_is_never_returned(compile_source: Compile, transform: str) -> None:
    """Traced, compiled, and over a batch."""
    op = compile_source(SLOTS, "toggle", SLOTS_SIGNATURE, **SLOTS_OPTIONS)
    gradient = jax.grad(lambda x: jnp.sum(op(x)))
    if transform == "jit":
        gradient = jax.jit(gradient)
    for x in points(4):
        try:
            if transform == "vmap":
                made = jax.vmap(gradient)(jnp.array([points(0)[0], x]))[1]
            else:
                made = gradient(jnp.array(x))
        except Exception as refusal:
            assert "could be proven right" in str(refusal)  # noqa: PT017
        else:
            np.testing.assert_allclose(np.asarray(made), slots_by_hand(x), rtol=1e-9)
