"""Every program of the conformance table in PyTorch: values, reverse mode, forward mode, and what must not change."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
import torch
from ffgrad.errors import DifferentiationError
from ffgrad.torch import Enzyme, enzyme
from support.loader import Case, load_cases
from torch.autograd import forward_ad, gradcheck

CASES = list(load_cases())
SINGLE = [case for case in CASES if any(item.dtype == "float32" for item in case.inputs)]
EXACT = [case for case in CASES if case not in SINGLE]
MAY_REFUSE = {"fallback", "refused"}

# What passed and what was refused, by name; conftest.py prints them after the run.
gradchecked: set[str] = set()
forward_checked: set[str] = set()
refused: set[str] = set()

every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_exact_case = pytest.mark.parametrize("case", EXACT, ids=str)
every_single_case = pytest.mark.parametrize("case", SINGLE, ids=str)


@cache
def opened(name: str) -> Enzyme:
    """Open a case once a session, so that its tests share one build."""
    (case,) = load_cases(names=[name])
    return enzyme(case.source, case.function, case.signature, **case.options)  # type: ignore[arg-type]


def tensors(case: Case, seed: int = 0) -> list[torch.Tensor]:
    """Draw the inputs; those with a gradient require it."""
    arrays = case.make_inputs(seed)
    # Not from_numpy: its strides of empty arrays are 0, at which gradcheck balks.
    values = [torch.empty(a.shape, dtype=torch.from_numpy(a).dtype).copy_(torch.from_numpy(a)) for a in arrays]
    return [v.requires_grad_(item.differentiable) for v, item in zip(values, case.inputs, strict=True)]


def as_tuple(outputs: torch.Tensor | tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Return one output or several as a tuple."""
    return outputs if isinstance(outputs, tuple) else (outputs,)


def applied(case: Case, inputs: list[torch.Tensor]) -> tuple[torch.Tensor, ...] | None:
    """Call the operation; ``None`` where the case may be refused, and was, with the reasons a user needs."""
    if case.name in refused:
        return None
    try:
        return as_tuple(opened(case.name).apply(*inputs))
    except DifferentiationError as error:
        if not case.tags & MAY_REFUSE:
            raise
        check_refusal(case, error)
        refused.add(case.name)
        return None


def check_refusal(case: Case, error: DifferentiationError) -> None:
    """A wrong gradient that was caught is shown with both numbers; every refusal has a code and advice."""
    assert error.code and error.function == case.function and error.hints
    if "fallback" in case.tags:
        pairs = re.findall(r"reverse mode gives (\S+), forward mode (\S+),", str(error))
        assert pairs, f"the numbers are missing: {error}"
        assert all(float(reverse) != float(forward) for reverse, forward in pairs)


def as_bytes(values: list[torch.Tensor] | tuple[torch.Tensor, ...]) -> list[bytes]:
    """Return the content of tensors, bit by bit."""
    return [value.detach().numpy().tobytes() for value in values]


@every_exact_case
def test_reverse_mode_passes_gradcheck(case: Case) -> None:
    """Columns of the Jacobian against central differences, by torch itself."""
    inputs = tensors(case)
    if applied(case, inputs) is None:
        return
    tolerance = case.tolerance.gradient
    # Threads add to the same gradient in any order.
    order = 1e-10 if "openmp" in case.tags else 0.0
    step = case.tolerance.step
    assert gradcheck(opened(case.name).apply, inputs, eps=step, atol=tolerance, rtol=tolerance, nondet_tol=order)
    gradchecked.add(case.name)


@every_exact_case
def test_forward_mode_passes_gradcheck(case: Case) -> None:
    """The same for Jacobian-vector products."""
    inputs = tensors(case)
    if applied(case, inputs) is None:
        return
    tolerance = case.tolerance.gradient
    assert gradcheck(
        opened(case.name).apply,
        inputs,
        eps=case.tolerance.step,
        atol=tolerance,
        rtol=tolerance,
        check_forward_ad=True,
        check_backward_ad=False,
        check_undefined_grad=False,
        check_batched_grad=False,
    )
    forward_checked.add(case.name)


@every_case
def test_values_agree_with_the_reference(case: Case) -> None:
    """Outputs against NumPy; a function without a gradient still has values."""
    with torch.no_grad():
        outputs = as_tuple(opened(case.name).apply(*tensors(case)))
    expected = case.expected(case.make_inputs())
    assert len(outputs) == len(expected)
    for output, value in zip(outputs, expected, strict=True):
        assert output.numpy().dtype == value.dtype or not output.is_floating_point()
        assert tuple(output.shape) == value.shape
        np.testing.assert_allclose(output.numpy(), value, rtol=case.tolerance.primal, atol=case.tolerance.primal)


@every_case
def test_forward_and_reverse_mode_are_adjoint(case: Case) -> None:
    """<v, J t> = <J^T v, t> for random v and t, forward mode by torch's dual tensors."""
    inputs = tensors(case, seed=1)
    outputs = applied(case, inputs)
    if outputs is None:
        return
    outputs = tuple(output for output in outputs if output.is_floating_point())
    cotangents = [torch.randn_like(output) for output in outputs]
    active = [x for x in inputs if x.requires_grad]
    tangents = [torch.randn_like(x) for x in active]

    gradients = torch.autograd.grad(outputs, active, cotangents)
    directional = pushed(case, inputs, tangents)

    forward = dot(cotangents, directional)
    reverse = dot(gradients, tangents)
    scale = max(1.0, *(abs(a.double() * b.double()).sum().item() for a, b in zip(gradients, tangents, strict=True)))
    assert abs(forward - reverse) <= case.tolerance.identity * scale


def pushed(case: Case, inputs: list[torch.Tensor], tangents: list[torch.Tensor]) -> list[torch.Tensor]:
    """Return J t, the tangents being those of the inputs that require a gradient."""
    left = iter(tangents)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x.detach(), next(left)) if x.requires_grad else x for x in inputs]
        outputs = [y for y in as_tuple(opened(case.name).apply(*duals)) if y.is_floating_point()]
        unpacked = [forward_ad.unpack_dual(y).tangent for y in outputs]
    return [torch.zeros_like(y) if t is None else t for y, t in zip(outputs, unpacked, strict=True)]


def dot(left: list[torch.Tensor] | tuple[torch.Tensor, ...], right: list[torch.Tensor]) -> float:
    """Inner product over all arrays, in double precision."""
    return sum((a.double() * b.double()).sum().item() for a, b in zip(left, right, strict=True))


@every_single_case
def test_single_precision_gradients_agree_with_finite_differences(case: Case) -> None:
    """One random direction per input, central differences of the outputs summed with random weights."""
    inputs = tensors(case)
    outputs = applied(case, inputs)
    if outputs is None:
        return
    weights = [torch.randn_like(y) for y in outputs if y.is_floating_point()]
    active = [i for i, x in enumerate(inputs) if x.requires_grad]
    gradients = torch.autograd.grad(outputs, [inputs[i] for i in active], weights)

    def weighted(i: int, step: torch.Tensor) -> float:
        moved = [x.detach() + step if j == i else x.detach() for j, x in enumerate(inputs)]
        return dot(weights, [y for y in as_tuple(opened(case.name).apply(*moved)) if y.is_floating_point()])

    for i, gradient in zip(active, gradients, strict=True):
        assert gradient.dtype == inputs[i].dtype
        direction = torch.randn_like(inputs[i])
        step = case.tolerance.step * direction
        numerical = (weighted(i, step) - weighted(i, -step)) / (2 * case.tolerance.step)
        exact = dot([gradient], [direction])
        assert abs(exact - numerical) <= case.tolerance.gradient * max(1.0, abs(numerical)), case.inputs[i].name


@every_case
def test_nothing_of_the_callers_is_changed(case: Case) -> None:
    """Inputs, outputs and cotangents have the same bits after forward, backward and forward mode as before."""
    inputs = tensors(case)
    inputs_before = as_bytes(inputs)
    outputs = applied(case, inputs)
    assert as_bytes(inputs) == inputs_before
    if outputs is None:
        return
    differentiable = tuple(y for y in outputs if y.is_floating_point())
    cotangents = [torch.randn_like(y) for y in differentiable]
    outputs_before, cotangents_before = as_bytes(outputs), as_bytes(cotangents)
    active = [x for x in inputs if x.requires_grad]
    torch.autograd.grad(differentiable, active, cotangents)
    tangents = [torch.randn_like(x) for x in active]
    tangents_before = as_bytes(tangents)
    pushed(case, inputs, tangents)

    assert as_bytes(inputs) == inputs_before
    assert as_bytes(outputs) == outputs_before
    assert as_bytes(cotangents) == cotangents_before
    assert as_bytes(tangents) == tangents_before


def test_at_least_twenty_programs_pass_gradcheck(request: pytest.FixtureRequest) -> None:
    """The count that the project promises; conftest.py prints it."""
    ran = [item for item in request.session.items if item.name.startswith("test_reverse_mode_passes_gradcheck[")]
    if len(ran) < len(EXACT):
        pytest.skip("only a part of the table was selected")
    assert len(gradchecked) >= 20
