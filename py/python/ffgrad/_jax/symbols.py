"""Sizes that are symbols, as ``jax.export`` has them: the shapes of the results, for any sizes that fit the signature.

What JAX does not know of its symbols (whether two are equal) is refused, and the message says how to state it. The handler checks the sizes of
each call in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from ffgrad import _shapes
from ffgrad._jax.call import Foreign
from ffgrad.errors import DtypeError, ShapeError

_HINT = (
    "Sizes that the signature makes equal must be one symbol, or be constrained: "
    'jax.export.symbolic_shape("a, b", constraints=["a == b"]).'
)


class Shapes(_shapes.Shapes):
    """The shapes of one call, of integers and of symbols of JAX."""

    def require(self, argument: str, holds: Callable[[], Any], message: Callable[[], str]) -> None:
        """Refuse what JAX does not know to hold."""
        try:
            known = bool(holds())
        except Exception as error:  # noqa: BLE001  (JAX's error for what it cannot decide is private)
            raise _refusal(f"{message()}, or may be: {str(error).splitlines()[0]}", argument) from None
        if not known:
            raise _refusal(message(), argument)

    def broadcast(self, shapes: Sequence[_shapes.Shape]) -> tuple[Any, ...]:
        """Return the shape to which all of these fit."""
        try:
            return tuple(jnp.broadcast_shapes(*(tuple(shape) for shape in shapes)))
        except Exception as error:  # noqa: BLE001  (as above)
            raise _shapes.misfit(shapes, f"{str(error).splitlines()[0]} {_HINT}") from None


def symbolic_results(foreign: Foreign, inputs: Sequence[tuple[str, Sequence[Any]]]) -> list[tuple[Any, ...]]:
    """Return the shapes of the outputs for inputs of these types and shapes.

    Raises
    ------
    DtypeError, ShapeError
        The inputs do not fit, or are not known to.
    """
    for name, wanted, (found, _) in zip(foreign.inputs, foreign.input_dtypes, inputs, strict=True):
        if str(wanted) != found:
            hint = "ffgrad never converts silently: convert the input before the call."
            raise DtypeError(
                f"`{name}` of `{foreign.name}`: expected {wanted}, found {found}\n  {hint}",
                code="dtype",
                function=foreign.name,
                expected=str(wanted),
                found=found,
                hints=[hint],
            )
    shapes = [tuple(shape) for _, shape in inputs]
    call = Shapes(foreign.plan, shapes, 0)
    return [tuple(call.output(position, shapes)) for position in range(len(foreign.outputs))]


def _refusal(text: str, argument: str) -> ShapeError:
    return ShapeError(f"{text}\n  {_HINT}", code="shape", argument=argument, hints=[_HINT])
