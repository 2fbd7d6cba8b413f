"""The gradients of the operations, registered with TensorFlow.

Which operation differentiates which is the table of ``ffgrad/_closure.py``, in reverse mode: TensorFlow derives its forward mode from
that. There is no operation ``jvp2``, so the gradient of ``hvp`` in its cotangents is refused as third derivatives are.

Registered on the operation's name, they serve tapes, persistent or nested, forward accumulators, graphs, loops and
saved models alike. A gradient that TensorFlow does not need is not computed; in graphs what is unused is
pruned. Masks are bit sets, as in ``tf-op/src/lib.rs``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from ffgrad._closure import ARGUMENTS, GRADIENTS, NEW, REVERSE, Rule, rule
from ffgrad._plan import bits, mask_of, pack, unpack
from ffgrad._tf import library

Maybe = Sequence[Any]

_ALL = -1


def _pack(values: Maybe) -> tuple[list[tf.Tensor], int]:
    """Return the cotangents or tangents that are there, dense, and the mask of their positions."""
    present, mask = pack([v if v is not None and v.dtype.is_floating else None for v in values], _ALL)
    # What is no tensor are indexed slices.
    return [v if isinstance(v, tf.Tensor) else tf.convert_to_tensor(v) for v in present], mask


def _shaped(values: Sequence[tf.Tensor], like: Iterable[tf.Tensor]) -> Sequence[tf.Tensor]:
    """Set the static shapes of results that have the shapes of inputs."""
    if not tf.executing_eagerly():
        for value, model in zip(values, like, strict=True):
            value.set_shape(model.shape)
    return values


_OPERATIONS: dict[str, Any] = {"vjp": library.vjp, "jvp": library.jvp, "hvp": library.hvp}
# How the operations take the arguments after the inputs.
_TENSORS = {"vjp": ("given",), "jvp": ("given",), "hvp": ("given", "along")}


class _Node:
    """An operation seen by its gradient function: what it was called on, and with which attributes."""

    def __init__(self, op: Any, operation: str) -> None:
        self.op, self.operation = op, operation
        self.spec = op.get_attr("spec")
        self.mask: int = op.get_attr("mask")
        tensors = list(op.inputs)
        self.count = len(tensors) if operation == "primal" else len(op.get_attr("Tin"))
        self.inputs = tensors[: self.count]
        self.results = [y.dtype for y in op.outputs] if operation == "primal" else list(op.get_attr("results"))
        self.floats = mask_of(i for i, dtype in enumerate(self.results) if dtype.is_floating)
        self.present: dict[str, int] = {name: op.get_attr(name) for name in ARGUMENTS[operation]}
        self.places, end = {"inputs": range(self.count)}, self.count
        for name, mask in self.present.items():
            self.places[name] = range(end, end + len(bits(mask)))
            end = self.places[name].stop
        self._skip = getattr(op, "skip_input_indices", None) or ()

    def space(self, argument: str) -> tuple[int, int]:
        """Return the mask of what can carry derivatives in an argument, and the number of positions."""
        if argument == "inputs":
            return self.mask, self.count
        return self.present[argument], len(self.results) if argument == "cotangents" else self.count

    def needs(self, argument: str) -> bool:
        """Whether a gradient in an argument is asked for."""
        places = self.places[argument]
        asked = [places[i] for i in bits(self.mask)] if argument == "inputs" else places
        return any(i not in self._skip for i in asked)

    def tensors(self, argument: str) -> list[Any]:
        """Return what was given for an argument, by position."""
        mask, positions = self.space(argument)
        places = self.places[argument]
        return unpack(list(self.op.inputs)[places.start : places.stop], mask, positions)

    def of(self, mask: int) -> list[tf.Tensor]:
        """Return the inputs at the positions of the mask."""
        return [self.inputs[i] for i in bits(mask)]

    def by(self, found: Rule, new: list[Any], mask: int) -> list[Any]:
        """Call the operation that a rule names, and return its results by position; gradients are those of the mask."""
        is_gradient = found.operation in GRADIENTS
        count = self.count if is_gradient else len(self.results)
        arguments: dict[str, Any] = {}
        for name, source, tensors in zip(
            ARGUMENTS[found.operation], found.arguments, _TENSORS[found.operation], strict=True
        ):
            arguments[tensors], arguments[name] = _pack(new if source == NEW else self.tensors(source))
            if not arguments[name]:
                return [None] * count
        if is_gradient and not mask:
            return [None] * count
        types = [x.dtype for x in self.of(mask)] if is_gradient else [self.results[i] for i in bits(self.floats)]
        values = _OPERATIONS[found.operation](
            inputs=self.inputs,
            Tout=types,
            results=self.results,
            spec=self.spec,
            mask=mask if is_gradient else self.mask,
            **arguments,
        )
        if is_gradient:
            return unpack(_shaped(values, self.of(mask)), mask, count)
        spread = unpack(values, self.floats, count)
        # In a graph the shapes of outputs are those of the cotangents, where there are any.
        like = self.tensors("cotangents") if "cotangents" in self.present else [None] * count
        for value, model in zip(spread, like, strict=True):
            if value is not None and model is not None:
                _shaped([value], [model])
        return spread

    def gradient(self, argument: str, arriving: list[Any]) -> list[Any]:
        """Return the gradient in an argument, one for each of its tensors."""
        places, (mask, _) = self.places[argument], self.space(argument)
        if not self.needs(argument):
            return [None] * len(places)
        found = rule(REVERSE, self.operation, argument, _OPERATIONS)
        if found is None:
            tensors = [x for x in self.tensors(argument) if x is not None]
            refused = _refuse(self, self.of(mask) if argument == "inputs" else tensors)
            return unpack(refused, mask, self.count) if argument == "inputs" else list(refused)
        values = self.by(found, arriving, mask)
        return values if argument == "inputs" else [values[i] for i in bits(mask)]


def _register(operation: str) -> None:
    def gradient(op: Any, *arriving: Any) -> list[Any]:
        node = _Node(op, operation)
        spread = list(arriving)
        if operation in GRADIENTS:
            spread = unpack(arriving, node.mask, node.count)
        elif operation != "primal":
            spread = unpack(arriving, node.floats, len(node.results))
        return [x for argument in node.places for x in node.gradient(argument, spread)]

    tf.RegisterGradient(f"Ffgrad{operation.capitalize()}V1")(gradient)


for _operation in ("primal", *_OPERATIONS):
    _register(_operation)


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
