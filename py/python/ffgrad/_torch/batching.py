"""The operators' rules for ``torch.func.vmap``.

A rule moves the mapped dimension of every tensor to the front and calls the same operator with one more leading dimension, so
that one native loop runs over the batch; nested maps stack their dimensions. An input that is not mapped gets a dimension of
size 1, and its gradient, where the derivative is taken outside of the map, is the sum over the batch. Where the derivative
is taken inside (``vmap(grad(f))``), each member of the batch has a gradient of its own: such an input is expanded, without a copy.

``torch.autograd.grad(is_grads_batched=True)`` and ``torch.autograd.functional`` with ``vectorize=True`` use an older map, with tensors
of the dispatch key ``Batched``; kernels for that key make the same calls of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ffgrad._closure import ARGUMENTS, GRADIENTS
from ffgrad._torch.library import LIBRARY, OPERATORS
from ffgrad._torch.plans import plan_of
from ffgrad.errors import DifferentiationError

Mapped = tuple[list[torch.Tensor], list[int]]


def _front(tensors: Sequence[torch.Tensor], dims: Any, size: int, own: int) -> list[torch.Tensor]:
    """Return the tensors with the mapped dimension first: of full size where the bit in ``own`` is set or it was there."""
    moved = []
    for i, tensor in enumerate(tensors):
        dim = dims[i] if dims is not None else None
        if dim is not None:
            tensor = tensor.movedim(dim, 0)
        elif own >> i & 1:
            tensor = _repeated(tensor, size)
        else:
            tensor = _repeated(tensor, 1)
        moved.append(tensor)
    return moved


def _repeated(tensor: torch.Tensor, size: int) -> torch.Tensor:
    """Return the tensor ``size`` times along a new first dimension, without a copy where torch can trace that."""
    if torch._C._len_torch_dispatch_stack():
        # Traced under a forward-mode level, torch fails an internal assertion on the layout of an expanded tangent.
        return tensor.repeat(size, *[1] * tensor.dim())
    return tensor.unsqueeze(0).expand(size, *tensor.shape)


def _mapped(results: list[torch.Tensor]) -> Mapped:
    return results, [0] * len(results)


_ALL = (1 << 64) - 1


def _rule(operation: str) -> Any:
    """Return an operator's rule: arguments are the inputs, further lists, ``spec``, ``batch`` and masks."""
    operator, names = OPERATORS[operation], ARGUMENTS[operation]

    def rule(info: Any, dims: Any, *arguments: Any) -> Mapped:
        (inputs, *rest), (spec, batch, *masks) = arguments[: 1 + len(names)], arguments[1 + len(names) :]
        size = info.batch_size
        # Inputs with a gradient or a tangent of their own for each member.
        own = masks[0] if operation in GRADIENTS else 0
        for name, mask in zip(names, masks[len(masks) - len(names) :], strict=True):
            own |= mask if name != "cotangents" else 0
        moved = [_front(tensors, dims[1 + i], size, _ALL) for i, tensors in enumerate(rest)]
        return _mapped(operator(_front(inputs, dims[0], size, own), *moved, spec, batch + 1, *masks))

    return rule


def _older(operator: Any) -> Any:
    """Return the kernel of an operator for tensors of the older map: unwrapped, mapped by the rule above, wrapped again."""
    rule = _RULES[operator._opname]

    def kernel(*arguments: Any) -> list[torch.Tensor]:
        level = torch._C._vmapmode_increment_nesting() - 1
        torch._C._vmapmode_decrement_nesting()
        if level != 1:
            raise _nested(arguments)
        lists = [a for a in arguments if isinstance(a, list | tuple)]
        given = [_is_older(x) for tensors in lists for x in tensors]
        bare = [_unwrapped(x, level) for tensors in lists for x in tensors]
        size = next(x.shape[0] for x, mapped in zip(bare, given, strict=True) if mapped)
        plain, marks = iter(bare), iter(given)
        moved = [[next(plain) for _ in tensors] for tensors in lists]
        dims = [[0 if next(marks) else None for _ in tensors] for tensors in lists]
        results, _ = rule(_Info(size), dims, *moved, *arguments[len(lists) :])
        return [torch._add_batch_dim(y, 0, level) for y in results]

    return kernel


class _Info:
    """What a rule asks of a map."""

    def __init__(self, batch_size: int) -> None:
        self.batch_size = batch_size


def _is_older(tensor: torch.Tensor) -> bool:
    return bool(torch._C._functorch.is_legacy_batchedtensor(tensor))


def _unwrapped(tensor: torch.Tensor, level: int) -> torch.Tensor:
    """Return the tensor with the mapped dimension first, if it is mapped; the size matters to others only."""
    return torch._remove_batch_dim(tensor, level, 1, 0) if _is_older(tensor) else tensor


def _nested(arguments: Sequence[Any]) -> DifferentiationError:
    plan = plan_of(next(a for a in arguments if isinstance(a, str)))
    advice = "Use torch.func.vmap over torch.autograd.grad, or torch.func.jacrev, which nest."
    return DifferentiationError(
        f"`{plan.function}` cannot be mapped by is_grads_batched=True inside of another such map\n  {advice}",
        code="nested-batched-gradients",
        function=plan.function,
        hints=[advice],
    )


_RULES = {operation: _rule(operation) for operation in ARGUMENTS}
for _name, _rule_of in _RULES.items():
    torch.library.register_vmap(f"ffgrad::{_name}", _rule_of, lib=LIBRARY)
for _name, _operator in OPERATORS.items():
    LIBRARY.impl(_name, _older(_operator), "Batched")
