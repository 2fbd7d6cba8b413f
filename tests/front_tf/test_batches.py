"""`...` in a signature: one native loop over leading dimensions, in graphs whose shapes are known in part or not at all."""

from __future__ import annotations

import ffgrad
import numpy as np
import pytest
import tensorflow as tf
from programs import MATVEC
from support.fixtures import Compile

SIGNATURE = "A[m,n], x[...,n] -> y[...,m], return[...]"


def reference(a: tf.Tensor, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Compute what MATVEC does, over a batch."""
    y = tf.einsum("mn,...n->...m", a, x * x)
    return y, tf.reduce_sum(y * y, axis=-1)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (2, 0)])
def test_values_and_gradients_over_a_batch(compile_source: Compile, batch: tuple[int, ...], threads: int) -> None:
    """The gradient of the shared matrix is the sum over the elements."""
    f = compile_source(MATVEC, "matvec", SIGNATURE, threads=threads)
    a, x = tf.random.normal([4, 5], dtype=tf.float64), tf.random.normal([*batch, 5], dtype=tf.float64)
    results = []
    for operation in (f, tf.function(f), reference):
        with tf.GradientTape() as tape:
            tape.watch([a, x])
            y, s = operation(a, x)
            total = tf.reduce_sum(tf.sin(y)) + tf.reduce_sum(s)
        results.append([y, s, *tape.gradient(total, [a, x])])
    for got in results[:2]:
        for g, w in zip(got, results[2], strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-12)


def test_static_shapes_have_the_batch(compile_source: Compile) -> None:
    """As far as they are known while the graph is built."""
    f = compile_source(MATVEC, "matvec", SIGNATURE)
    shapes: list[tf.TensorShape] = []

    def shape_of(shape: list[int | None] | None) -> tuple[tf.TensorShape, ...]:
        spec = [tf.TensorSpec([4, 5], tf.float64), tf.TensorSpec(shape, tf.float64)]
        tf.function(lambda a, x: shapes.append([y.shape for y in f(a, x)])).get_concrete_function(*spec)
        return tuple(shapes[-1])

    assert [s.as_list() for s in shape_of([7, None, 5])] == [[7, None, 4], [7, None]]
    assert [s.rank for s in shape_of(None)] == [None, None]


def test_batch_dimensions_that_differ_are_refused(compile_source: Compile) -> None:
    """When the graph is built, where they are known then."""
    f = compile_source(MATVEC, "matvec", "A[...,m,n], x[...,n] -> y[...,m], return[...]")
    a, x = tf.ones([2, 4, 5], tf.float64), tf.ones([3, 5], tf.float64)
    with pytest.raises((ffgrad.ShapeError, tf.errors.OpError, ValueError), match="batch dimensions|shape"):
        tf.function(f)(a, x)
