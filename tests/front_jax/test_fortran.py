"""A Fortran procedure in JAX: memory order, gradients, ``jit``."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ffgrad import ToolchainError
from ffgrad.jax import enzyme
from jax.test_util import check_grads

SOURCE = Path(__file__).resolve().parents[1] / "cases" / "fortran" / "column_major.f90"


def test_a_fortran_procedure_has_the_declared_shapes_and_its_gradient() -> None:
    """``a(3,n)`` is an array of shape (3, n), which JAX keeps row by row."""
    try:
        rotate = enzyme(SOURCE, "rotate", "a[3,n], angle -> b")
    except ToolchainError as error:
        pytest.skip(str(error).splitlines()[0])
    a, angle = jnp.asarray(np.random.default_rng(0).standard_normal((3, 4))), jnp.asarray(0.3)
    rotation = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    expected = np.vstack([rotation @ a[:2], np.square(a[2]) * np.arange(1, 5)])
    np.testing.assert_allclose(jax.jit(rotate)(a, angle), expected, rtol=1e-12)
    check_grads(rotate, (a, angle), order=1)
