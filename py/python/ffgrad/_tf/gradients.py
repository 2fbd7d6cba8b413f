"""The gradients of the operations, registered with TensorFlow.

The operations are closed under differentiation up to second order: with x the inputs, v cotangents, t tangents,

========================  =========================  ==================  ===================
operation                 in x                       in v                in t
========================  =========================  ==================  ===================
``Primal`` f(x)           ``Vjp``
``Vjp`` J(x)^T v          ``Hvp``                    ``Jvp``
``Jvp`` J(x) t            ``Hvp``                                        ``Vjp``
``Hvp`` d(J^T v)/dx t     refused (third order)      refused             ``Hvp`` (symmetric)
========================  =========================  ==================  ===================

Registered on the operation's name, they serve tapes, persistent or nested, forward accumulators, graphs, loops and
saved models alike. Where TensorFlow says that a gradient is not needed it is not computed; in graphs what is unused is
pruned. Masks are bit sets, as in ``tf-op/src/lib.rs``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from ffgrad._tf import library

Maybe = Sequence[Any]


def bits(mask: int) -> list[int]:
    """Return the positions that are set."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def _pack(values: Maybe) -> tuple[list[tf.Tensor], int]:
    """Return the cotangents or tangents that are there, dense, and the mask of their positions."""
    present = {i: v for i, v in enumerate(values) if v is not None and v.dtype.is_floating}
    # What is no tensor are indexed slices.
    dense = [v if isinstance(v, tf.Tensor) else tf.convert_to_tensor(v) for v in present.values()]
    return dense, sum(1 << i for i in present)


def _unpack(values: Sequence[tf.Tensor], mask: int, count: int) -> list[Any]:
    """Return values at the positions of the mask, ``None`` elsewhere."""
    left = iter(values)
    return [next(left) if mask >> i & 1 else None for i in range(count)]


def _shaped(values: Sequence[tf.Tensor], like: Iterable[tf.Tensor]) -> Sequence[tf.Tensor]:
    """Tell a graph the shapes of results that are those of inputs."""
    if not tf.executing_eagerly():
        for value, model in zip(values, like, strict=True):
            value.set_shape(model.shape)
    return values


class _Node:
    """An operation seen by its gradient function: what it was called on, and with which attributes."""

    def __init__(self, op: Any) -> None:
        self.op = op
        self.spec = op.get_attr("spec")
        self.mask: int = op.get_attr("mask")
        arguments = list(op.inputs)
        self.count = len(arguments) if op.type == "FfgradPrimalV1" else len(op.get_attr("Tin"))
        self.inputs, self.rest = arguments[: self.count], arguments[self.count :]
        self._skip = getattr(op, "skip_input_indices", None) or ()

    @property
    def results(self) -> list[tf.DType]:
        """Types of f(x)."""
        return list(self.op.get_attr("results"))

    @property
    def floats(self) -> int:
        """Mask of the results that carry derivatives."""
        return sum(1 << i for i, dtype in enumerate(self.results) if dtype.is_floating)

    def needs_inputs(self) -> bool:
        """Whether the gradient in any differentiable input is asked for."""
        return any(i not in self._skip for i in bits(self.mask))

    def needs_rest(self, start: int, stop: int) -> bool:
        """Whether a gradient in the arguments after the inputs is asked for, from ``start`` to ``stop``."""
        return any(self.count + i not in self._skip for i in range(start, stop))

    def of(self, mask: int) -> list[tf.Tensor]:
        """Return the inputs at the positions of the mask."""
        return [self.inputs[i] for i in bits(mask)]

    def vjp(self, results: list[tf.DType], mask: int, cotangents: Maybe) -> list[Any]:
        """J^T v for the inputs in the mask."""
        given, present = _pack(cotangents)
        if not mask or not present:
            return [None] * self.count
        gradients = library.vjp(
            inputs=self.inputs,
            given=given,
            Tout=[x.dtype for x in self.of(mask)],
            results=results,
            spec=self.spec,
            mask=mask,
            cotangents=present,
        )
        return _unpack(_shaped(gradients, self.of(mask)), mask, self.count)

    def jvp(self, tangents: Maybe, like: Maybe) -> list[Any]:
        """J t for all results; ``like`` are tensors of their shapes where there are any."""
        given, present = _pack(tangents)
        results = self.results
        if not present:
            return [None] * len(results)
        directional = library.jvp(
            inputs=self.inputs,
            given=given,
            Tout=[results[i] for i in bits(self.floats)],
            results=results,
            spec=self.spec,
            mask=self.mask,
            tangents=present,
        )
        spread = _unpack(directional, self.floats, len(results))
        for value, model in zip(spread, like, strict=True):
            if value is not None and model is not None:
                _shaped([value], [model])
        return spread

    def hvp(self, mask: int, cotangents: Maybe, tangents: Maybe) -> list[Any]:
        """d(J^T v)/dx t for the inputs in the mask."""
        given, present = _pack(cotangents)
        along, moving = _pack(tangents)
        if not mask or not present or not moving:
            return [None] * self.count
        gradients = library.hvp(
            inputs=self.inputs,
            given=given,
            along=along,
            Tout=[x.dtype for x in self.of(mask)],
            results=self.results,
            spec=self.spec,
            mask=mask,
            cotangents=present,
            tangents=moving,
        )
        return _unpack(_shaped(gradients, self.of(mask)), mask, self.count)


@tf.RegisterGradient("FfgradPrimalV1")  # type: ignore[untyped-decorator]
def _primal(op: Any, *cotangents: Any) -> list[Any]:
    node = _Node(op)
    return node.vjp([y.dtype for y in op.outputs], node.mask, cotangents)


@tf.RegisterGradient("FfgradVjpV1")  # type: ignore[untyped-decorator]
def _vjp(op: Any, *directions: Any) -> list[Any]:
    node = _Node(op)
    present: int = op.get_attr("cotangents")
    results = node.results
    cotangents = _unpack(node.rest, present, len(results))
    tangents = _unpack(directions, node.mask, node.count)
    second, first = [None] * node.count, [None] * len(results)
    if node.needs_inputs():
        second = node.hvp(node.mask, cotangents, tangents)
    if node.needs_rest(0, len(node.rest)):
        first = node.jvp(tangents, cotangents)
    return [*second, *[first[i] for i in bits(present)]]


@tf.RegisterGradient("FfgradJvpV1")  # type: ignore[untyped-decorator]
def _jvp(op: Any, *directions: Any) -> list[Any]:
    node = _Node(op)
    moving: int = op.get_attr("tangents")
    cotangents = _unpack(directions, node.floats, len(node.results))
    second, first = [None] * node.count, [None] * node.count
    if node.needs_inputs():
        second = node.hvp(node.mask, cotangents, _unpack(node.rest, moving, node.count))
    if node.needs_rest(0, len(node.rest)):
        first = node.vjp(node.results, moving, cotangents)
    return [*second, *[first[i] for i in bits(moving)]]


@tf.RegisterGradient("FfgradHvpV1")  # type: ignore[untyped-decorator]
def _hvp(op: Any, *directions: Any) -> list[Any]:
    node = _Node(op)
    present, moving = op.get_attr("cotangents"), op.get_attr("tangents")
    held = len(bits(present))
    cotangents = _unpack(node.rest[:held], present, len(node.results))
    third: list[Any] = [None] * node.count
    mixed: list[Any] = [None] * held
    along: list[Any] = [None] * node.count
    if node.needs_inputs():
        third = _unpack(_refuse(node, node.of(node.mask)), node.mask, node.count)
    if node.needs_rest(0, held):
        mixed = list(_refuse(node, node.rest[:held]))
    if node.needs_rest(held, len(node.rest)):
        along = node.hvp(moving, cotangents, _unpack(directions, node.mask, node.count))
    return [*third, *mixed, *[along[i] for i in bits(moving)]]


_THIRD = (
    "third derivatives of a foreign function are not available\n"
    "  Values, gradients and gradients of gradients are. Stop the gradient (tf.stop_gradient) where a third one is not meant."
)


def _refuse(node: _Node, like: list[tf.Tensor]) -> Sequence[tf.Tensor]:
    """Stand in for a gradient that does not exist: an error where the value is used, nothing where it is not."""
    refused = library.refuse(inputs=node.inputs, Tout=[x.dtype for x in like], message=_THIRD)
    return _shaped(refused, like)


def _register_vectorization() -> None:
    """Let ``tf.vectorized_map`` and ``tape.jacobian`` loop over these operations without a warning at each.

    They would do the same by themselves: a foreign function has no batched form of its own. The registry is private
    to TensorFlow; without it there is a warning, no more.
    """
    try:
        from tensorflow.python.ops.parallel_for.pfor import RegisterPFor, _fallback_converter
    except ImportError:
        return
    for kind in ("Primal", "Vjp", "Jvp", "Hvp", "Refuse"):
        RegisterPFor(f"Ffgrad{kind}V1")(lambda pfor_input: _fallback_converter(pfor_input, warn=False))


_register_vectorization()
