"""How the operators are differentiated: their kernels for autograd.

Each operator has one kernel under the dispatch key ``Autograd``, which serves backward, forward-mode AD, every transform of
``torch.func`` and the tracing of ``torch.compile``: all of them reach an operator through the dispatcher. So nothing looks into
an operator, and no rule can be dropped on the way.

===========  ==========================================  =========================================
operator     in its inputs                               in its directions (linear)
===========  ==========================================  =========================================
``primal``   ``vjp``; forward ``jvp``
``vjp``      ``hvp``; forward ``hvp``                    ``jvp``; forward ``vjp``
``jvp``      ``hvp``; forward ``jvp2``                   ``vjp``; forward ``jvp``
``hvp``      refused (third derivatives)                 tangents: ``hvp``; cotangents: forward ``hvp``, backward refused
``jvp2``     refused (third derivatives)                 ``hvp``; forward ``jvp2``
===========  ==========================================  =========================================

A gradient has the shape of its input, also where that input was broadcast over a batch: it is summed then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import _C
from torch._functorch import autograd_function
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction

from ffgrad import _native
from ffgrad._torch.library import HVP, JVP, JVP2, LIBRARY, PRIMAL, VJP, typed
from ffgrad._torch.plans import Plan, bits, pack, plan_of, unpack
from ffgrad.errors import DifferentiationError

Tensors = Sequence[Any]


def _below(op: Any, keyset: Any, *arguments: Any) -> list[torch.Tensor]:
    """Call what lies below autograd: a level of ``torch.func``, a tracer, or the kernel."""
    try:
        with _C._AutoDispatchBelowAutograd():
            results: list[torch.Tensor] = op.redispatch(keyset & _C._after_autograd_keyset, *arguments)
    except RuntimeError as error:
        raise typed(error) from None
    _native.torch_warnings()
    return results


def _watched(*lists: Tensors) -> bool:
    """Whether a derivative of what follows may be asked for."""
    if torch.is_grad_enabled() and any(x.requires_grad for tensors in lists for x in tensors):
        return True
    # `forward_ad._current_level` alone does not tell: a graph of torch.compile enters its level without Python's knowledge.
    return forward_ad._is_fwd_grad_enabled() and bool(
        forward_ad._current_level >= 0 or _C._are_functorch_transforms_active() or _C._len_torch_dispatch_stack()
    )


class _Formula(_SingleLevelFunction):
    """One operator call, as autograd sees it at one level."""

    @classmethod
    def record(cls, *arguments: Any) -> list[torch.Tensor]:
        with autograd_function.enable_single_level_autograd_function():  # type: ignore[attr-defined]
            return list(cls.apply(*arguments))  # type: ignore[attr-defined]


class _Modes:
    """Run a forward as if no autograd.Function stood around it: levels below this one have derivatives of their own."""

    def __init__(self) -> None:
        self._reverse = torch.is_grad_enabled()
        self._forward = forward_ad._is_fwd_grad_enabled()

    def __enter__(self) -> None:
        self._outer = torch.is_grad_enabled(), forward_ad._is_fwd_grad_enabled()
        _C._set_grad_enabled(self._reverse)
        _C._set_fwd_grad_enabled(self._forward)

    def __exit__(self, *_: object) -> None:
        _C._set_grad_enabled(self._outer[0])
        _C._set_fwd_grad_enabled(self._outer[1])


@contextmanager
def _pushing(ctx: Any) -> Iterator[tuple[list[Any], Callable[..., list[torch.Tensor]]]]:
    """Give what was saved, and a way to call operators on it without the tangents of this level.

    torch switches forward-mode AD off while a ``jvp`` runs, so that a second forward derivative silently lacks its terms: here other
    levels push theirs. A level of ``torch.func`` is called below its autograd; outside of them reverse mode may look on.
    """
    with forward_ad._set_fwd_grad_enabled(True):
        if _C._are_functorch_transforms_active():
            yield list(ctx.saved_tensors), lambda op, *arguments: _below(op, ctx.keyset, *arguments)
        else:
            primals = [torch._VF._unpack_dual(x, level=0)[0] for x in ctx.saved_tensors]
            yield primals, lambda op, *arguments: op(*arguments)


def _wanted(ctx: Any, skipped: int, count: int, plan: Plan) -> int:
    """Mask of the inputs whose gradient is asked for."""
    needs = ctx.needs_input_grad[skipped : skipped + count]
    return sum(1 << i for i, need in enumerate(needs) if need) & plan.differentiable


def _refuse_third(ctx: Any, skipped: int, count: int, plan: Plan) -> None:
    """Refuse where the gradient of one of these tensors goes on to somebody; that it needs one alone does not tell."""
    for i, need in enumerate(ctx.needs_input_grad[skipped : skipped + count]):
        if need and _goes_on(ctx.next_functions[i][0]):
            raise _third(plan)


def _goes_on(node: Any) -> bool:
    try:
        return node is not None and bool(_C._will_engine_execute_node(node))
    except RuntimeError:
        return True  # a leaf whose gradient is asked for, or no backward pass that could be asked


def _save(ctx: Any, tensors: Tensors) -> None:
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*tensors)
    ctx.save_for_forward(*tensors)


def _plus(left: list[Any] | None, right: list[Any]) -> list[Any]:
    return right if left is None else [a + b for a, b in zip(left, right, strict=True)]


def refuse(plan: Plan, what: str, advice: str) -> DifferentiationError:
    """Return the error for a derivative that does not exist."""
    return DifferentiationError(
        f"{what} of `{plan.function}` are not available\n  {advice}",
        code="no-third-derivative",
        function=plan.function,
        hints=[advice],
    )


def _third(plan: Plan) -> DifferentiationError:
    advice = "Values, gradients and gradients of gradients are. Leave out create_graph=True at the second derivative, or detach it."
    return refuse(plan, "third derivatives", advice)


class _Primal(_Formula):
    @staticmethod
    def forward(ctx: Any, keyset: Any, modes: _Modes, spec: str, batch: int, *inputs: Any) -> Any:
        plan = plan_of(spec)
        expected = _wanted(ctx, 4, len(inputs), plan)
        with modes:
            outputs = _below(PRIMAL, keyset, list(inputs), spec, batch, expected)
        ctx.keyset, ctx.spec, ctx.batch = keyset, spec, batch
        _save(ctx, inputs)
        ctx.mark_non_differentiable(*[y for i, y in enumerate(outputs) if not plan.floats >> i & 1])
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        inputs, plan = ctx.saved_tensors, plan_of(ctx.spec)
        given, present = pack(cotangents, plan.floats)
        mask = _wanted(ctx, 4, len(inputs), plan)
        gradients = VJP(inputs, given, ctx.spec, ctx.batch, mask, present) if mask and present else ()
        return (None, None, None, None, *unpack(gradients, mask if present else 0, len(inputs)))

    @staticmethod
    def jvp(ctx: Any, _keyset: Any, _modes: Any, _spec: Any, _batch: Any, *tangents: Any) -> tuple[Any, ...]:
        plan = plan_of(ctx.spec)
        along, moving = pack(tangents, plan.differentiable)
        if not moving:
            return (None,) * len(plan.outputs)
        with _pushing(ctx) as (inputs, call):
            return tuple(unpack(call(JVP, inputs, along, ctx.spec, ctx.batch, moving), plan.floats, len(plan.outputs)))


class _Vjp(_Formula):
    @staticmethod
    def forward(ctx: Any, keyset: Any, modes: _Modes, spec: str, batch: int, masks: Any, *tensors: Any) -> Any:
        count, mask, present = masks
        with modes:
            gradients = _below(VJP, keyset, list(tensors[:count]), list(tensors[count:]), spec, batch, mask, present)
        ctx.keyset, ctx.spec, ctx.batch, ctx.masks = keyset, spec, batch, masks
        _save(ctx, tensors)
        return tuple(gradients)

    @staticmethod
    def backward(ctx: Any, *directions: Any) -> tuple[Any, ...]:
        (count, mask, present), plan, tensors = ctx.masks, plan_of(ctx.spec), ctx.saved_tensors
        inputs, given = tensors[:count], tensors[count:]
        along, moving = pack(unpack(directions, mask, count), mask)
        second, first = [None] * count, [None] * len(given)
        if moving:
            wanted = _wanted(ctx, 5, count, plan)
            if wanted:
                changes = HVP(inputs, given, along, ctx.spec, ctx.batch, wanted, present, moving)
                second = unpack(changes, wanted, count)
            if any(ctx.needs_input_grad[5 + count :]):
                outputs = unpack(JVP(inputs, along, ctx.spec, ctx.batch, moving), plan.floats, len(plan.outputs))
                first = [outputs[i] for i in bits(present)]
        return (None, None, None, None, None, *second, *first)

    @staticmethod
    def jvp(ctx: Any, _keyset: Any, _modes: Any, _spec: Any, _batch: Any, _masks: Any, *tangents: Any) -> Any:
        (count, mask, present), plan = ctx.masks, plan_of(ctx.spec)
        along, moving = pack(tangents[:count], plan.differentiable)
        changed, changing = pack(unpack(tangents[count:], present, len(plan.outputs)), present)
        change: list[Any] | None = None
        with _pushing(ctx) as (tensors, call):
            inputs, given = tensors[:count], tensors[count:]
            if moving:
                change = call(HVP, inputs, given, along, ctx.spec, ctx.batch, mask, present, moving)
            if changing:
                change = _plus(change, call(VJP, inputs, changed, ctx.spec, ctx.batch, mask, changing))
        return tuple(change or [None] * len(bits(mask)))


class _Jvp(_Formula):
    @staticmethod
    def forward(ctx: Any, keyset: Any, modes: _Modes, spec: str, batch: int, masks: Any, *tensors: Any) -> Any:
        count, moving = masks
        with modes:
            outputs = _below(JVP, keyset, list(tensors[:count]), list(tensors[count:]), spec, batch, moving)
        ctx.keyset, ctx.spec, ctx.batch, ctx.masks = keyset, spec, batch, masks
        _save(ctx, tensors)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        (count, moving), plan, tensors = ctx.masks, plan_of(ctx.spec), ctx.saved_tensors
        inputs, along = tensors[:count], tensors[count:]
        given, present = pack(unpack(cotangents, plan.floats, len(plan.outputs)), plan.floats)
        second, first = [None] * count, [None] * len(along)
        if present:
            wanted = _wanted(ctx, 5, count, plan)
            if wanted:
                changes = HVP(inputs, given, along, ctx.spec, ctx.batch, wanted, present, moving)
                second = unpack(changes, wanted, count)
            if any(ctx.needs_input_grad[5 + count :]):
                first = list(VJP(inputs, given, ctx.spec, ctx.batch, moving, present))
        return (None, None, None, None, None, *second, *first)

    @staticmethod
    def jvp(ctx: Any, _keyset: Any, _modes: Any, _spec: Any, _batch: Any, _masks: Any, *tangents: Any) -> Any:
        (count, moving), plan = ctx.masks, plan_of(ctx.spec)
        turned, turning = pack(tangents[:count], plan.differentiable)
        changed, changing = pack(unpack(tangents[count:], moving, count), moving)
        change: list[Any] | None = None
        with _pushing(ctx) as (tensors, call):
            inputs, along = tensors[:count], tensors[count:]
            if turning:
                change = call(JVP2, inputs, along, turned, ctx.spec, ctx.batch, moving, turning)
            if changing:
                change = _plus(change, call(JVP, inputs, changed, ctx.spec, ctx.batch, changing))
        return tuple(change or [None] * len(bits(plan.floats)))


class _Hvp(_Formula):
    @staticmethod
    def forward(ctx: Any, keyset: Any, modes: _Modes, spec: str, batch: int, masks: Any, *tensors: Any) -> Any:
        count, held, mask, present, moving = masks
        inputs, given, along = tensors[:count], tensors[count : count + held], tensors[count + held :]
        with modes:
            changes = _below(HVP, keyset, list(inputs), list(given), list(along), spec, batch, mask, present, moving)
        ctx.keyset, ctx.spec, ctx.batch, ctx.masks = keyset, spec, batch, masks
        _save(ctx, tensors)
        return tuple(changes)

    @staticmethod
    def backward(ctx: Any, *directions: Any) -> tuple[Any, ...]:
        (count, held, mask, present, moving), plan, tensors = ctx.masks, plan_of(ctx.spec), ctx.saved_tensors
        _refuse_third(ctx, 5, count + held, plan)
        along, wanted = pack(unpack(directions, mask, count), mask)
        given = tensors[count : count + held]
        change: list[Any] = [None] * len(bits(moving))
        if wanted:
            change = list(HVP(tensors[:count], given, along, ctx.spec, ctx.batch, moving, present, wanted))
        return (None, None, None, None, None, *[None] * (count + held), *change)

    @staticmethod
    def jvp(ctx: Any, _keyset: Any, _modes: Any, _spec: Any, _batch: Any, _masks: Any, *tangents: Any) -> Any:
        (count, held, mask, present, moving), plan = ctx.masks, plan_of(ctx.spec)
        if pack(tangents[:count], plan.differentiable)[1]:
            raise _third(plan)
        moved, turning = pack(unpack(tangents[count + held :], moving, count), moving)
        changed, changing = pack(unpack(tangents[count : count + held], present, len(plan.outputs)), present)
        change: list[Any] | None = None
        with _pushing(ctx) as (tensors, call):
            inputs, given, along = tensors[:count], tensors[count : count + held], tensors[count + held :]
            if turning:
                change = call(HVP, inputs, given, moved, ctx.spec, ctx.batch, mask, present, turning)
            if changing:
                change = _plus(change, call(HVP, inputs, changed, along, ctx.spec, ctx.batch, mask, changing, moving))
        return tuple(change or [None] * len(bits(mask)))


class _Jvp2(_Formula):
    @staticmethod
    def forward(ctx: Any, keyset: Any, modes: _Modes, spec: str, batch: int, masks: Any, *tensors: Any) -> Any:
        count, held, moving, turning = masks
        inputs, along, directions = tensors[:count], tensors[count : count + held], tensors[count + held :]
        with modes:
            outputs = _below(JVP2, keyset, list(inputs), list(along), list(directions), spec, batch, moving, turning)
        ctx.keyset, ctx.spec, ctx.batch, ctx.masks = keyset, spec, batch, masks
        _save(ctx, tensors)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        (count, held, moving, turning), plan, tensors = ctx.masks, plan_of(ctx.spec), ctx.saved_tensors
        _refuse_third(ctx, 5, count, plan)
        inputs, along, directions = tensors[:count], tensors[count : count + held], tensors[count + held :]
        given, present = pack(unpack(cotangents, plan.floats, len(plan.outputs)), plan.floats)
        first, second = [None] * len(along), [None] * len(directions)
        if present and any(ctx.needs_input_grad[5 + count : 5 + count + held]):
            first = list(HVP(inputs, given, directions, ctx.spec, ctx.batch, moving, present, turning))
        if present and any(ctx.needs_input_grad[5 + count + held :]):
            second = list(HVP(inputs, given, along, ctx.spec, ctx.batch, turning, present, moving))
        return (None, None, None, None, None, *[None] * count, *first, *second)

    @staticmethod
    def jvp(ctx: Any, _keyset: Any, _modes: Any, _spec: Any, _batch: Any, _masks: Any, *tangents: Any) -> Any:
        (count, held, moving, turning), plan = ctx.masks, plan_of(ctx.spec)
        if pack(tangents[:count], plan.differentiable)[1]:
            raise _third(plan)
        changed, changing = pack(unpack(tangents[count : count + held], moving, count), moving)
        turned, twisting = pack(unpack(tangents[count + held :], turning, count), turning)
        change: list[Any] | None = None
        with _pushing(ctx) as (tensors, call):
            inputs, along, directions = tensors[:count], tensors[count : count + held], tensors[count + held :]
            if changing:
                change = call(JVP2, inputs, changed, directions, ctx.spec, ctx.batch, changing, turning)
            if twisting:
                change = _plus(change, call(JVP2, inputs, along, turned, ctx.spec, ctx.batch, moving, twisting))
        return tuple(change or [None] * len(bits(plan.floats)))


def _primal(keyset: Any, inputs: Tensors, spec: str, batch: int, expected: int) -> list[torch.Tensor]:
    if not _watched(inputs):
        return _below(PRIMAL, keyset, inputs, spec, batch, expected)
    return _Primal.record(keyset, _Modes(), spec, batch, *inputs)


def _vjp(
    keyset: Any, inputs: Tensors, given: Tensors, spec: str, batch: int, mask: int, cotangents: int
) -> list[torch.Tensor]:
    mask &= plan_of(spec).differentiable
    if not _watched(inputs, given):
        return _below(VJP, keyset, inputs, given, spec, batch, mask, cotangents)
    return _Vjp.record(keyset, _Modes(), spec, batch, (len(inputs), mask, cotangents), *inputs, *given)


def _jvp(keyset: Any, inputs: Tensors, along: Tensors, spec: str, batch: int, tangents: int) -> list[torch.Tensor]:
    if not _watched(inputs, along):
        return _below(JVP, keyset, inputs, along, spec, batch, tangents)
    return _Jvp.record(keyset, _Modes(), spec, batch, (len(inputs), tangents), *inputs, *along)


def _hvp(
    keyset: Any,
    inputs: Tensors,
    given: Tensors,
    along: Tensors,
    spec: str,
    batch: int,
    mask: int,
    cotangents: int,
    tangents: int,
) -> list[torch.Tensor]:
    mask &= plan_of(spec).differentiable
    if not _watched(inputs, given, along):
        return _below(HVP, keyset, inputs, given, along, spec, batch, mask, cotangents, tangents)
    masks = (len(inputs), len(given), mask, cotangents, tangents)
    return _Hvp.record(keyset, _Modes(), spec, batch, masks, *inputs, *given, *along)


def _jvp2(
    keyset: Any,
    inputs: Tensors,
    along: Tensors,
    directions: Tensors,
    spec: str,
    batch: int,
    tangents: int,
    turning: int,
) -> list[torch.Tensor]:
    if not _watched(inputs, along, directions):
        return _below(JVP2, keyset, inputs, along, directions, spec, batch, tangents, turning)
    masks = (len(inputs), len(along), tangents, turning)
    return _Jvp2.record(keyset, _Modes(), spec, batch, masks, *inputs, *along, *directions)


_KERNELS: dict[str, Callable[..., Any]] = {"primal": _primal, "vjp": _vjp, "jvp": _jvp, "hvp": _hvp, "jvp2": _jvp2}
for _name, _kernel in _KERNELS.items():
    LIBRARY.impl(_name, _kernel, "Autograd", with_keyset=True)
