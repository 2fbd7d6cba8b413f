"""Static shapes: what the shapes of the inputs imply for the outputs while a graph is built.

In: the call plan of a manifest, shapes that may be partly unknown. Out: one shape an output. Nothing is checked here:
that is done when the operation runs, or where all shapes are known (``library.misfit``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from ffgrad._plan import Plan, extent_of, split_batch
from ffgrad._shapes import solve


def output_shapes(plan: Plan, inputs: Sequence[tf.TensorShape]) -> list[tf.TensorShape]:
    """Return the shapes of the outputs, as far as they are known.

    Parameters
    ----------
    plan
        The function's.
    inputs
        Static shapes, in the order of the inputs.
    """
    args = plan.args
    given = dict(zip(plan.inputs, inputs, strict=False))
    symbols = dict(plan.sizes)
    batch: tf.TensorShape = tf.TensorShape([])
    expressions: list[tuple[Mapping[str, Any], int]] = []
    for arg, whole in given.items():
        dims, shape = args[arg]["shape"], whole
        if args[arg]["batched"]:
            own, shape = _split_batch(whole, len(dims))
            batch = tf.broadcast_static_shape(batch, own)
        if args[arg]["flat"]:
            if shape.is_fully_defined() and dims and "sym" in dims[0]:
                symbols.setdefault(dims[0]["sym"], shape.num_elements())
        elif shape.rank == len(dims):
            for dim, extent in zip(dims, shape, strict=True):
                if "sym" in dim and extent is not None:
                    symbols.setdefault(dim["sym"], extent)
                elif extent is not None:
                    expressions.append((dim, extent))
    solve(expressions, symbols)
    flat = next((shape for arg, shape in given.items() if args[arg]["flat"]), tf.TensorShape(None))

    def output(i: int) -> tf.TensorShape:
        if args[i]["batched"]:
            return batch.concatenate(_declared(args[i]["shape"], symbols))
        return given.get(i, flat if args[i]["flat"] else _declared(args[i]["shape"], symbols))

    return [output(i) for i in plan.outputs]


def _split_batch(shape: tf.TensorShape, rank: int) -> tuple[tf.TensorShape, tf.TensorShape]:
    if shape.rank is None or shape.rank < rank:
        return tf.TensorShape(None), tf.TensorShape(None)
    return split_batch(shape, rank)


def _declared(dims: Sequence[Mapping[str, Any]], symbols: Mapping[str, int]) -> tf.TensorShape:
    extents = [extent_of(dim, symbols) for dim in dims]
    return tf.TensorShape([e if e is None or e >= 0 else None for e in extents])
