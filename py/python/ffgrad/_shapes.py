"""Shapes whose sizes may be symbols of a tracer: what the signature makes of the inputs' shapes.

In: a call plan, the shapes of the inputs. Out: :class:`Shapes`, the shapes of the outputs. A framework says in a class of its own
how a condition on symbols is checked. ``core-ad/src/shapes.rs`` has the same rules for integers.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ffgrad._plan import Plan, extent_of, split_batch
from ffgrad.errors import ShapeError

Shape = Sequence[Any]


def misfit(shapes: Sequence[Shape], why: object) -> ShapeError:
    """Return the error for batch dimensions that do not fit together."""
    listed = ", ".join(str(list(shape)) for shape in shapes)
    return ShapeError(f"the batch dimensions {listed} do not fit together\n  {why}", code="shape")


def _solve(dim: Mapping[str, Any], extent: Any, symbols: dict[str, Any]) -> None:
    """Learn the one unknown symbol of an expression; ``core-ad/src/shapes/dims.rs`` has the same rules."""
    ((kind, content),) = dim.items()
    if kind == "sym":
        symbols.setdefault(content, extent)
        return
    if kind in ("int", "floordiv"):
        return
    left, right = content
    known = extent_of(left, symbols), extent_of(right, symbols)
    if (known[0] is None) == (known[1] is None):
        return
    unknown, other = (left, known[1]) if known[0] is None else (right, known[0])
    if kind == "add":
        _solve(unknown, extent - other, symbols)
    elif kind == "sub":
        _solve(unknown, extent + other if known[0] is None else other - extent, symbols)
    elif kind == "mul" and not (isinstance(other, int) and other == 0):
        _solve(unknown, extent // other, symbols)


def solve(expressions: Sequence[tuple[Mapping[str, Any], Any]], symbols: dict[str, Any]) -> None:
    """Learn the symbols that stand nowhere alone from expressions and their extents, until nothing new follows."""
    for _ in expressions:
        for dim, extent in expressions:
            _solve(dim, extent, symbols)


class Shapes:
    """The shapes of one call: symbols bound by the inputs.

    Parameters
    ----------
    plan
        The function's.
    inputs
        Shapes of the inputs, each with ``batch`` leading dimensions to map over, then those of a ``...``.
    batch
        Their number.
    more
        Further shapes whose leading dimensions are mapped over: of cotangents and tangents.

    Raises
    ------
    ShapeError
        The shapes contradict each other or the signature.
    """

    def __init__(self, plan: Plan, inputs: Sequence[Shape], batch: int, more: Sequence[Shape] = ()) -> None:
        self.plan = plan
        self.batch = self.broadcast([shape[:batch] for shape in (*inputs, *more)]) if batch else ()
        self.symbols: dict[str, Any] = dict(plan.sizes)
        self.flat: Shape | None = None
        self._core(inputs, batch)

    def require(self, argument: str, holds: Callable[[], Any], message: Callable[[], str]) -> None:
        """Refuse where a condition on the sizes does not hold."""
        if not holds():
            raise ShapeError(message(), code="shape", argument=argument)

    def broadcast(self, shapes: Sequence[Shape]) -> tuple[Any, ...]:
        """Return the shape to which all of these fit."""
        raise NotImplementedError

    def _core(self, inputs: Sequence[Shape], batch: int) -> None:
        plan = self.plan
        given = [(plan.args[arg], shape[batch:]) for arg, shape in zip(plan.inputs, inputs, strict=True)]
        own = [split_batch(shape, len(arg["shape"]))[0] for arg, shape in given if arg["batched"]]
        self.own = self.broadcast(own) if own else ()
        given = [(arg, split_batch(shape, len(arg["shape"]))[1] if arg["batched"] else shape) for arg, shape in given]
        for arg, shape in given:
            self._rank(arg, shape)
        for arg, shape in given:
            if arg["flat"]:
                self.flat = shape if self.flat is None else self.flat
                self._bind(arg, arg["shape"][0], _count(shape), "number of elements")
            else:
                for at, (dim, extent) in enumerate(zip(arg["shape"], shape, strict=True)):
                    if "sym" in dim:
                        self._bind(arg, dim, extent, f"dimension {at}")
        expressions = [
            (arg, dim, extent)
            for arg, shape in given
            if not arg["flat"]
            for dim, extent in zip(arg["shape"], shape, strict=True)
            if "sym" not in dim
        ]
        solve([(dim, extent) for _, dim, extent in expressions], self.symbols)
        for arg, dim, extent in expressions:
            self._agree(arg, extent_of(dim, self.symbols), extent, "a dimension")

    def _rank(self, arg: Mapping[str, Any], shape: Shape) -> None:
        wanted = len(arg["shape"])
        if not arg["flat"] and len(shape) != wanted:
            plural = "" if wanted == 1 else "s"
            expected = "it is a scalar, expected the shape []" if not wanted else f"expected {wanted} dimension{plural}"
            raise ShapeError(
                f"`{arg['name']}` of `{self.plan.function}` has the shape {list(shape)}: {expected}\n"
                f'  Its signature is "{self.plan.signature}".',
                code="shape",
                function=self.plan.function,
                argument=arg["name"],
            )

    def _bind(self, arg: Mapping[str, Any], dim: Mapping[str, Any], extent: Any, place: str) -> None:
        known = self.symbols.setdefault(dim["sym"], extent)
        if known is not extent:
            self._agree(arg, known, extent, f"{place}, `{dim['sym']}`,")

    def _agree(self, arg: Mapping[str, Any], expected: Any, extent: Any, place: str) -> None:
        if expected is not None:
            self.require(
                arg["name"],
                lambda: expected == extent,
                lambda: (
                    f"{place} of `{arg['name']}` of `{self.plan.function}` is {extent}, expected {expected}\n"
                    f'  Its signature is "{self.plan.signature}".'
                ),
            )

    def output(self, position: int, inputs: Sequence[Shape]) -> tuple[Any, ...]:
        """Return the shape of an output."""
        plan, index = self.plan, self.plan.outputs[position]
        arg = plan.args[index]
        if index in plan.inputs:
            given: Shape = inputs[plan.inputs.index(index)]
            core = given[len(self.batch) :] if arg["flat"] else split_batch(given, len(arg["shape"]))[1]
        elif arg["flat"] and self.flat is not None:
            core = self.flat
        else:
            core = [extent_of(dim, self.symbols) for dim in arg["shape"]]
            for dim, extent in zip(arg["shape"], core, strict=True):
                if extent is None:
                    raise ShapeError(
                        f"a dimension of `{arg['name']}` of `{plan.function}` follows from no shape: {dim}\n"
                        "  Give its symbols in sizes={...}.",
                        code="shape",
                        argument=arg["name"],
                    )
                self.require(
                    arg["name"],
                    functools.partial(operator.ge, extent, 0),
                    lambda: f"a dimension of `{arg['name']}` would be negative",
                )
        return (*self.batch, *(self.own if arg["batched"] else ()), *core)


def _count(shape: Shape) -> Any:
    count: Any = 1
    for extent in shape:
        count = count * extent
    return count
