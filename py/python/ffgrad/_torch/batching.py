"""How the operators are mapped: their rules for ``torch.func.vmap``.

A rule moves the mapped dimension of every tensor to the front and calls the same operator with one more leading dimension, so
that one native loop runs over the batch; nested maps stack their dimensions. An input that is not mapped gets a dimension of
size 1, and its gradient, where the derivative is taken outside of the map, is the sum over the batch. Where the derivative
is taken inside (``vmap(grad(f))``), each member of the batch has a gradient of its own: such an input is expanded, without a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ffgrad._torch.library import HVP, JVP, LIBRARY, PRIMAL, VJP

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
            tensor = tensor.unsqueeze(0)
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


def _primal(info: Any, dims: Any, inputs: Any, spec: str, batch: int, expected: int) -> Mapped:
    return _mapped(PRIMAL(_front(inputs, dims[0], info.batch_size, 0), spec, batch + 1, expected))


def _vjp(info: Any, dims: Any, inputs: Any, given: Any, spec: str, batch: int, mask: int, cotangents: int) -> Mapped:
    size = info.batch_size
    moved = _front(inputs, dims[0], size, mask), _front(given, dims[1], size, _ALL)
    return _mapped(VJP(*moved, spec, batch + 1, mask, cotangents))


def _jvp(info: Any, dims: Any, inputs: Any, along: Any, spec: str, batch: int, tangents: int) -> Mapped:
    size = info.batch_size
    moved = _front(inputs, dims[0], size, tangents), _front(along, dims[1], size, _ALL)
    return _mapped(JVP(*moved, spec, batch + 1, tangents))


def _hvp(
    info: Any,
    dims: Any,
    inputs: Any,
    given: Any,
    along: Any,
    spec: str,
    batch: int,
    mask: int,
    cotangents: int,
    tangents: int,
) -> Mapped:
    size = info.batch_size
    moved = (
        _front(inputs, dims[0], size, mask | tangents),
        _front(given, dims[1], size, _ALL),
        _front(along, dims[2], size, _ALL),
    )
    return _mapped(HVP(*moved, spec, batch + 1, mask, cotangents, tangents))


_RULES: dict[str, Any] = {"primal": _primal, "vjp": _vjp, "jvp": _jvp, "hvp": _hvp}
for _name, _rule in _RULES.items():
    torch.library.register_vmap(f"ffgrad::{_name}", _rule, lib=LIBRARY)
