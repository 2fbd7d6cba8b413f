"""The fast path of a kernel's call on a GPU: plain tensors, and at most a first reverse derivative.

The dispatcher would come through Python twice for each operator, which costs more than a small kernel does. So a call on plain tensors
goes to the operators' own code (``cuda.py``). Whatever is not plain (transforms, forward mode, tracers, profilers, subclasses of Tensor,
a backward to be differentiated) is left to the operators, as on the CPU (``eager.py``).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch import _C
from torch.autograd import forward_ad

from ffgrad._plan import Plan, mask_of, pack, unpack
from ffgrad._torch import cuda
from ffgrad._torch.library import VJP

Tensors = Sequence[torch.Tensor]

_TYPES = frozenset({torch.Tensor, torch.nn.Parameter})


# Dispatch keys of tensors that are nothing but their elements: not mapped, not sparse, not lazily negated. By device, as they are met.
_PLAIN: set[int] = set()


def _has_plain_keys(x: torch.Tensor) -> bool:
    """Whether a tensor has the keys of a new one on its device; remembers them."""
    keys = _C._dispatch_keys(x).raw_repr()
    for inference in (False, True):
        with torch.inference_mode(inference):
            if _C._dispatch_keys(torch.empty(0, device=x.device)).raw_repr() == keys:
                _PLAIN.add(keys)
                return True
    return False


def is_plain(tensors: Tensors) -> bool:
    """Whether nothing stands between a call on these tensors and their memory, and nobody looks on."""
    if (
        _C._are_functorch_transforms_active()
        or _C._len_torch_dispatch_stack()
        or forward_ad._current_level >= 0
        or _C._get_tracing_state() is not None
        or _C._autograd._profiler_enabled()
    ):
        return False
    return all(
        [type(x) in _TYPES and (_C._dispatch_keys(x).raw_repr() in _PLAIN or _has_plain_keys(x)) for x in tensors]
    )


@functools.lru_cache(maxsize=256)
def _mask(needs: tuple[bool, ...]) -> int:
    """Return the mask of the inputs whose gradient is asked for."""
    return mask_of(i for i, need in enumerate(needs) if need)


class Eager:
    """An operation's calls on a GPU.

    Parameters
    ----------
    spec, plan
        What is called.
    """

    def __init__(self, spec: str, plan: Plan) -> None:
        self._spec, self._plan = spec, plan
        self._integers = [i for i in range(len(plan.outputs)) if not plan.floats >> i & 1]
        methods = {"forward": staticmethod(self._forward), "backward": staticmethod(self._backward)}
        function: Any = type(f"ffgrad::{plan.function}", (torch.autograd.Function,), methods)
        self._recorded = function.apply

    def call(self, tensors: Tensors) -> Sequence[torch.Tensor] | None:
        """Return the outputs; ``None`` where the call is not plain."""
        if not is_plain(tensors):
            return None
        if torch.is_grad_enabled() and any([x.requires_grad for x in tensors]):
            recorded: tuple[torch.Tensor, ...] = self._recorded(*tensors)
            return recorded
        return cuda.primal(tensors, self._spec)

    def _forward(self, ctx: Any, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        outputs = cuda.primal(tensors, self._spec)
        ctx.save_for_backward(*tensors)
        # A cotangent that is not requested is `None`, not zeros that would be computed with.
        ctx.set_materialize_grads(False)
        if self._integers:
            ctx.mark_non_differentiable(*[outputs[i] for i in self._integers])
        return tuple(outputs)

    def _backward(self, ctx: Any, *cotangents: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        tensors = ctx.saved_tensors
        mask = _mask(ctx.needs_input_grad) & self._plan.differentiable
        given = [v for v in cotangents if v is not None]
        if not mask or not given:
            return (None,) * len(tensors)
        if not torch.is_grad_enabled() and is_plain((*tensors, *given)):
            return tuple(cuda.gradient(tensors, cotangents, self._spec, mask))
        # The operator is differentiable, and can be mapped.
        given, present = pack(cotangents, self._plan.floats)
        return tuple(unpack(VJP(tensors, given, self._spec, 0, mask, present), mask, len(tensors)))
