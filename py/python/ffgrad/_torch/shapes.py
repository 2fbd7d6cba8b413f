"""Shapes without data: what the operators return when only the shapes of their arguments are known.

This is what ``torch.compile`` and ``torch.export`` trace with. Dimensions may be symbols of torch; what the signature asks of
them is checked here, and becomes a guard of the compiled program where they are symbols. Each output is one empty tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ffgrad._closure import ARGUMENTS, GRADIENTS
from ffgrad._plan import Plan, bits, extent_of, split_batch
from ffgrad._torch.library import LIBRARY
from ffgrad._torch.plans import plan_of
from ffgrad.errors import DtypeError, ShapeError

Shape = Sequence[Any]


def _require(argument: str, holds: Any, message: Callable[[], str]) -> None:
    if isinstance(holds, bool):
        if not holds:
            raise ShapeError(message(), code="shape", argument=argument)
    else:
        torch._check(holds, message)


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
    elif kind == "mul":
        _solve(unknown, extent // other, symbols)


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
        self.batch = _broadcast([shape[:batch] for shape in (*inputs, *more)]) if batch else ()
        self.symbols: dict[str, Any] = dict(plan.sizes)
        self.flat: Shape | None = None
        self._core(inputs, batch)

    def _core(self, inputs: Sequence[Shape], batch: int) -> None:
        plan = self.plan
        given = [(plan.args[arg], shape[batch:]) for arg, shape in zip(plan.inputs, inputs, strict=True)]
        own = [split_batch(shape, len(arg["shape"]))[0] for arg, shape in given if arg["batched"]]
        self.own = _broadcast(own) if own else ()
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
        for _ in expressions:
            for _, dim, extent in expressions:
                _solve(dim, extent, self.symbols)
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
            _require(
                arg["name"],
                expected == extent,
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
                _require(arg["name"], extent >= 0, lambda: f"a dimension of `{arg['name']}` would be negative")
        return (*self.batch, *(self.own if arg["batched"] else ()), *core)


def _count(shape: Shape) -> Any:
    count: Any = 1
    for extent in shape:
        count = count * extent
    return count


def _check_types(plan: Plan, inputs: Sequence[torch.Tensor]) -> None:
    for name, dtype, value in zip(plan.names, plan.input_dtypes, inputs, strict=True):
        if value.dtype != dtype:
            expected, found = (str(t).removeprefix("torch.") for t in (dtype, value.dtype))
            raise DtypeError(
                f"`{name}` of `{plan.function}`: expected {expected}, found {found}\n"
                "  ffgrad never converts silently: convert the input before the call.",
                code="dtype",
                function=plan.function,
                expected=expected,
                found=found,
            )


def _outputs(
    spec: str, batch: int, inputs: Sequence[torch.Tensor], more: Sequence[torch.Tensor], wanted: int
) -> list[torch.Tensor]:
    plan = plan_of(spec)
    _check_types(plan, inputs)
    known = [x.shape for x in inputs]
    shapes = Shapes(plan, known, batch, [x.shape for x in more])
    # Numbers come as tensors of the CPU.
    device = next((x.device for x in inputs if x.is_cuda or x.is_meta), torch.device("cpu"))
    return [
        _empty(plan.args[plan.outputs[p]], shapes.output(p, known), plan.output_dtypes[p], device) for p in bits(wanted)
    ]


def _empty(arg: Mapping[str, Any], shape: Shape, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Make a tensor with the kernel's strides: column-major for Fortran's arrays, unless they are mapped over."""
    if arg.get("column_major") and len(shape) == len(arg["shape"]):
        return torch.empty(tuple(reversed(shape)), dtype=dtype, device=device).permute(*reversed(range(len(shape))))
    return torch.empty(tuple(shape), dtype=dtype, device=device)


def _gradients(inputs: Sequence[torch.Tensor], spec: str, mask: int) -> list[torch.Tensor]:
    plan = plan_of(spec)
    return [
        _empty(plan.args[plan.inputs[i]], inputs[i].shape, inputs[i].dtype, inputs[i].device)
        for i in bits(mask & plan.differentiable)
    ]


def _broadcast(shapes: Sequence[Shape]) -> tuple[Any, ...]:
    try:
        return tuple(torch.broadcast_shapes(*shapes))  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        listed = ", ".join(str(list(shape)) for shape in shapes)
        raise ShapeError(f"the batch dimensions {listed} do not fit together\n  {error}", code="shape") from None


def _rule(operation: str) -> Any:
    """Return an operator's rule: arguments are the inputs, further lists, ``spec``, ``batch`` and masks."""
    lists = 1 + len(ARGUMENTS[operation])

    def rule(*arguments: Any) -> list[torch.Tensor]:
        (inputs, *more), (spec, batch, *masks) = arguments[:lists], arguments[lists:]
        if operation in GRADIENTS:
            return _gradients(inputs, spec, masks[0])
        plan = plan_of(spec)
        wanted = (1 << len(plan.outputs)) - 1 if operation == "primal" else plan.floats
        return _outputs(spec, batch, inputs, [x for tensors in more for x in tensors], wanted)

    return rule


for _name in ARGUMENTS:
    torch.library.register_fake(f"ffgrad::{_name}", _rule(_name), lib=LIBRARY)
