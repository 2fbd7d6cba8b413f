"""Shapes without data: what the operators return when only the shapes of their arguments are known.

This is what ``torch.compile`` and ``torch.export`` trace with. Dimensions may be symbols of torch; what the signature asks of
them is checked by ``ffgrad/_shapes.py``, and becomes a guard of the compiled program where they are symbols. Each output is one
empty tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ffgrad import _shapes
from ffgrad._closure import ARGUMENTS, GRADIENTS
from ffgrad._plan import Plan, bits
from ffgrad._torch.library import LIBRARY
from ffgrad._torch.plans import plan_of
from ffgrad.errors import DtypeError, ShapeError

Shape = Sequence[Any]


class Shapes(_shapes.Shapes):
    """The shapes of one call, of integers or of symbols of torch."""

    def require(self, argument: str, holds: Callable[[], Any], message: Callable[[], str]) -> None:
        """Check a condition; one on symbols becomes a guard."""
        known = holds()
        if isinstance(known, bool):
            if not known:
                raise ShapeError(message(), code="shape", argument=argument)
        else:
            torch._check(known, message)

    def broadcast(self, shapes: Sequence[Shape]) -> tuple[Any, ...]:
        """Return the shape to which all of these fit."""
        try:
            return tuple(torch.broadcast_shapes(*shapes))  # type: ignore[no-untyped-call]
        except RuntimeError as error:
            raise _shapes.misfit(shapes, error) from None


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
