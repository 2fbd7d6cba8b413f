"""How the operators are differentiated: their kernels for autograd.

Each operator has one kernel under the dispatch key ``Autograd``, which serves backward, forward-mode AD, every transform of
``torch.func`` and the tracing of ``torch.compile``: all of them reach an operator through the dispatcher. So nothing traces into
an operator, and no rule can be dropped.

Which operator differentiates which is the table of ``ffgrad/_closure.py``. Backward of ``hvp`` in its cotangents is refused, as
third derivatives are.

A gradient has the shape of its input, also where that input was broadcast over a batch: it is summed then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import _C
from torch._functorch import autograd_function
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction

from ffgrad import _native
from ffgrad._closure import ARGUMENTS, FORWARD, GRADIENTS, NEW, REVERSE, Rule, rule
from ffgrad._plan import Plan, bits, mask_of, pack, unpack
from ffgrad._torch.library import LIBRARY, OPERATORS, typed
from ffgrad._torch.plans import plan_of
from ffgrad.errors import DifferentiationError

Tensors = Sequence[Any]


def _below(op: Any, keyset: Any, *arguments: Any) -> list[torch.Tensor]:
    """Call what is below autograd: a level of ``torch.func``, a tracer, or the kernel."""
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
    # `forward_ad._current_level` alone is not enough: a graph of torch.compile enters its level without Python's knowledge.
    return forward_ad._is_fwd_grad_enabled() and bool(
        forward_ad._current_level >= 0 or _C._are_functorch_transforms_active() or _C._len_torch_dispatch_stack()
    )


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
    """Give what was saved, and a function that calls operators on it without the tangents of this level.

    torch switches forward-mode AD off while a ``jvp`` runs, so that a second forward derivative silently lacks its terms: here other
    levels push theirs. A level of ``torch.func`` is called below its autograd; outside of them reverse mode may look on.
    """
    with forward_ad._set_fwd_grad_enabled(True):
        if _C._are_functorch_transforms_active():
            yield list(ctx.saved_tensors), lambda op, *arguments: _below(op, ctx.keyset, *arguments)
        else:
            primals = [torch._VF._unpack_dual(x, level=0)[0] for x in ctx.saved_tensors]
            yield primals, lambda op, *arguments: op(*arguments)


def _wanted(needs: Sequence[bool]) -> int:
    """Mask of the tensors whose gradient is asked for."""
    return mask_of(i for i, need in enumerate(needs) if need)


def _refuse_third(ctx: Any, at: range, plan: Plan) -> None:
    """Refuse where autograd will use the gradient of one of these tensors; ``needs_input_grad`` alone does not say so."""
    for i in at:
        if ctx.needs_input_grad[_OWN + i] and _is_used(ctx.next_functions[i][0]):
            raise _third(plan)


def _is_used(node: Any) -> bool:
    try:
        return node is not None and bool(_C._will_engine_execute_node(node))
    except RuntimeError:
        return True  # a leaf whose gradient is wanted, or no backward pass is running


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


# What backward calls: no `jvp2`.
_IN_REVERSE = ("vjp", "jvp", "hvp")
# Arguments of a formula before its tensors.
_OWN = 3

Given = dict[str, tuple[list[Any], int]]
"""Tensors by the name of the argument, and the mask of their positions."""


class _Call(NamedTuple):
    """What a formula is about.

    Attributes
    ----------
    operation : str
        Name of the operator.
    spec, batch
        As operators take them.
    arity : int
        Number of inputs.
    mask : int
        Inputs whose gradient is a result (``vjp``, ``hvp``) or will be asked for (``primal``).
    present : tuple of int
        For each argument after the inputs, the mask of the tensors that are there.
    """

    operation: str
    spec: str
    batch: int
    arity: int
    mask: int
    present: tuple[int, ...]

    def places(self) -> dict[str, range]:
        """Where the tensors of each argument are."""
        places, end = {"inputs": range(self.arity)}, self.arity
        for name, mask in zip(ARGUMENTS[self.operation], self.present, strict=True):
            places[name] = range(end, end + mask.bit_count())
            end = places[name].stop
        return places

    def given(self, tensors: Tensors) -> Given:
        """Return the arguments after the inputs."""
        places = self.places()
        return {
            name: (list(tensors[places[name].start : places[name].stop]), mask)
            for name, mask in zip(ARGUMENTS[self.operation], self.present, strict=True)
        }

    def arguments(self, inputs: Tensors, given: Given) -> tuple[Any, ...]:
        """Return the arguments of the operator."""
        names = ARGUMENTS[self.operation]
        masks = (self.mask,) if self.operation in GRADIENTS or self.operation == "primal" else ()
        lists = (given[name][0] for name in names)
        return (list(inputs), *lists, self.spec, self.batch, *masks, *(given[name][1] for name in names))

    def results(self, plan: Plan) -> tuple[int, int]:
        """Return the mask of the results, and how many there would be with nothing left out."""
        if self.operation in GRADIENTS:
            return self.mask, self.arity
        everything = (1 << len(plan.outputs)) - 1
        return (everything if self.operation == "primal" else plan.floats), len(plan.outputs)

    def space(self, argument: str, plan: Plan) -> tuple[int, int]:
        """Return the mask of what can carry derivatives in an argument, and the number of positions."""
        if argument == "inputs":
            return plan.differentiable, self.arity
        mask = self.present[ARGUMENTS[self.operation].index(argument)]
        return mask, len(plan.outputs) if argument == "cotangents" else self.arity

    def by(self, rule: Rule, inputs: Tensors, given: Given, new: tuple[list[Any], int], mask: int, call: Any) -> Any:
        """Call the operator that a rule names; ``mask`` are the inputs whose gradient it returns."""
        passed = {
            name: new if source == NEW else given[source]
            for name, source in zip(ARGUMENTS[rule.operation], rule.arguments, strict=True)
        }
        other = self._replace(operation=rule.operation, mask=mask)
        return list(call(OPERATORS[rule.operation], *other.arguments(inputs, passed)))


def _call(op: Any, *arguments: Any) -> Any:
    return op(*arguments)


class _Formula(_SingleLevelFunction):
    """One operator call, as autograd sees it at one level."""

    @classmethod
    def record(cls, keyset: Any, call: _Call, tensors: Tensors) -> list[torch.Tensor]:
        with autograd_function.enable_single_level_autograd_function():  # type: ignore[attr-defined]
            return list(cls.apply(keyset, _Modes(), call, *tensors))  # type: ignore[attr-defined]

    @staticmethod
    def forward(ctx: Any, keyset: Any, modes: _Modes, call: _Call, *tensors: Any) -> Any:
        plan = plan_of(call.spec)
        if call.operation == "primal":
            call = call._replace(mask=_wanted(ctx.needs_input_grad[_OWN:]) & plan.differentiable)
        inputs, given = tensors[: call.arity], call.given(tensors)
        with modes:
            results = _below(OPERATORS[call.operation], keyset, *call.arguments(inputs, given))
        ctx.keyset, ctx.call = keyset, call
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        if call.operation == "primal":
            ctx.mark_non_differentiable(*[y for i, y in enumerate(results) if not plan.floats >> i & 1])
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *arriving: Any) -> tuple[Any, ...]:
        call, tensors = ctx.call, ctx.saved_tensors
        plan = plan_of(call.spec)
        results, count = call.results(plan)
        new = pack(unpack(arriving, results, count), plan.floats if call.operation == "primal" else results)
        gradients: list[Any] = [None] * len(tensors)
        places = call.places()
        rules = {name: rule(REVERSE, call.operation, name, _IN_REVERSE) for name in places}
        for name, at in places.items():
            if rules[name] is None:
                _refuse_third(ctx, at, plan)
        inputs, given = tensors[: call.arity], call.given(tensors)
        for name, at in places.items():
            needs, found = ctx.needs_input_grad[_OWN + at.start : _OWN + at.stop], rules[name]
            if found is None or not new[1] or not any(needs):
                continue
            mask, positions = call.space(name, plan)
            if name == "inputs":
                mask &= _wanted(needs)
                if not mask:
                    continue
            values = call.by(found, inputs, given, new, mask, _call)
            # In cotangents the derivative has all outputs that carry one.
            spread = unpack(values, mask if found.operation in GRADIENTS else plan.floats, positions)
            gradients[at.start : at.stop] = spread if name == "inputs" else [spread[i] for i in bits(mask)]
        return (None,) * _OWN + tuple(gradients)

    @staticmethod
    def jvp(ctx: Any, _keyset: Any, _modes: Any, _call: Any, *tangents: Any) -> Any:
        call, plan = ctx.call, plan_of(ctx.call.spec)
        change: list[Any] | None = None
        moving: dict[str, tuple[list[Any], int]] = {}
        for name, at in call.places().items():
            mask, positions = call.space(name, plan)
            own = tangents[at.start : at.stop]
            moving[name] = pack(own if name == "inputs" else unpack(own, mask, positions), mask)
            if moving[name][1] and rule(FORWARD, call.operation, name) is None:
                raise _third(plan)
        with _pushing(ctx) as (tensors, below):
            inputs, given = tensors[: call.arity], call.given(tensors)
            for name, new in moving.items():
                found = rule(FORWARD, call.operation, name)
                if found is not None and new[1]:
                    terms = call.by(found, inputs, given, new, call.mask, below)
                    change = terms if change is None else [a + b for a, b in zip(change, terms, strict=True)]
        results, count = call.results(plan)
        carried = results & plan.floats if call.operation == "primal" else results
        spread = unpack(change or [None] * carried.bit_count(), carried, count)
        return tuple(spread[i] for i in bits(results))


def _kernel(operation: str) -> Callable[..., Any]:
    """Return an operator's kernel for autograd: its arguments are the inputs, further lists, ``spec``, ``batch`` and masks."""
    operator, lists = OPERATORS[operation], 1 + len(ARGUMENTS[operation])

    def kernel(keyset: Any, *arguments: Any) -> list[torch.Tensor]:
        tensors, (spec, batch, *masks) = arguments[:lists], arguments[lists:]
        if operation in GRADIENTS:
            masks[0] &= plan_of(spec).differentiable
        if not _watched(*tensors):
            return _below(operator, keyset, *tensors, spec, batch, *masks)
        wanted = masks.pop(0) if operation in GRADIENTS or operation == "primal" else 0
        call = _Call(operation, spec, batch, len(tensors[0]), wanted, tuple(masks))
        return _Formula.record(keyset, call, [x for some in tensors for x in some])

    return kernel


for _name in ARGUMENTS:
    LIBRARY.impl(_name, _kernel(_name), "Autograd", with_keyset=True)
