"""A Fortran procedure in TensorFlow: memory order, gradients, graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from ffgrad import ToolchainError
from ffgrad.tf import enzyme

SOURCE = Path(__file__).resolve().parents[1] / "cases" / "fortran" / "column_major.f90"


def test_a_fortran_procedure_has_the_declared_shapes_and_its_gradient() -> None:
    """``a(3,n)`` is a tensor of shape (3, n), which TensorFlow keeps row by row."""
    try:
        rotate = enzyme(SOURCE, "rotate", "a[3,n], angle -> b")
    except ToolchainError as error:
        pytest.skip(str(error).splitlines()[0])
    a, angle = tf.constant(np.random.default_rng(0).standard_normal((3, 4))), tf.constant(0.3, tf.float64)
    rotation = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    expected = np.vstack([rotation @ a[:2], np.square(a[2]) * np.arange(1, 5)])
    np.testing.assert_allclose(tf.function(rotate.apply)(a, angle), expected, rtol=1e-12)
    theoretical, numerical = tf.test.compute_gradient(rotate.apply, [a, angle], delta=1e-6)
    for exact, difference in zip(theoretical, numerical, strict=True):
        np.testing.assert_allclose(exact, difference, atol=1e-7)
