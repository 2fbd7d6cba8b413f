"""The fast path of an eager call: one ``autograd.Function`` an operation, whose two methods are native.

It serves plain tensors and the first reverse derivative. Neighbours: ``py/src/eager.rs`` (the methods), ``formulas.py`` (all else).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ffgrad import _native

Gradient = Callable[[tuple[Any, ...], tuple[Any, ...], int], list[Any]]


def fast_path(native: _native.Function, name: str, gradient: Gradient) -> _native.Eager:
    """Return what calls an operation on plain tensors.

    Parameters
    ----------
    native
        The function.
    name
        Its name, which ``grad_fn`` and profilers show.
    gradient
        ``gradient(inputs, cotangents, mask)`` by the operators: where a backward is differentiated, mapped or traced.
    """
    # What profilers call its rows.
    row = f"ffgrad::{name}"
    eager = _native.Eager(native, row)

    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        mask = sum(1 << i for i, need in enumerate(ctx.needs_input_grad) if need)
        return tuple(gradient(_inputs(ctx, len(native.inputs)), cotangents, mask))

    methods = {"forward": staticmethod(eager.forward), "backward": staticmethod(backward)}
    function: Any = type(row, (torch.autograd.Function,), methods)
    # Autograd calls `apply` of the node's class, which in torch is a Python method that looks for the user's.
    native_apply = {"apply": _native.Backward.apply, "_eager": eager}
    function._backward_cls = type(f"{row}Backward", (function._backward_cls, _native.Backward), native_apply)
    eager.bind(function.apply)
    return eager


def _inputs(ctx: Any, count: int) -> tuple[Any, ...]:
    """Return the inputs that ``eager.rs`` saved."""
    tensors: tuple[Any, ...] = ctx.saved_tensors
    if len(tensors) == count:
        return tensors
    left = iter(tensors)
    return tuple(next(left) if number is None else number for number in ctx.numbers)
