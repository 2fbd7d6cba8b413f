"""How calls reach a GPU: memory, shadows, batches, checks and errors are those of a GPU; only the launch is the CPU's.

The CUDA operators stand in for the CPU's here (``cuda_cases.gpu_stand_in``), so that autograd, ``torch.func`` and ``vmap`` take the route
they go for CUDA tensors.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

import pytest
import torch
from ffgrad._torch import cuda
from ffgrad.errors import DeviceError, DifferentiationError, DtypeError, OutOfMemoryError
from ffgrad.torch import enzyme
from support.cuda_cases import KERNELS, StandIn, gpu_stand_in, inputs_of, opened
from support.loader import FOLDER
from torch.autograd import gradcheck, gradgradcheck
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

CHECK = ["jvp", "vjp", "primal", "primal"]


def listed(outputs: Any) -> tuple[Any, ...]:
    """Return the outputs as a tuple."""
    return outputs if isinstance(outputs, tuple) else (outputs,)


@pytest.mark.parametrize("name", ["pointwise", "block_reduce", "in_place", "neighbours", "gather", "soft_histogram"])
def test_a_call_gives_every_slot_its_memory(name: str) -> None:
    """Values and gradients are the CPU's; inputs stay as they were; the first gradient is checked."""
    f, case = opened(name)
    inputs = inputs_of(case)
    before = [x.detach().clone() if isinstance(x, torch.Tensor) else x for x in inputs]
    expected = listed(f(*inputs))
    seeds = [torch.randn_like(y) for y in expected]
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    theirs = torch.autograd.grad(expected, wanted, seeds)
    with gpu_stand_in(f) as gpu:
        outputs = listed(f._dispatch(inputs))
        ours = torch.autograd.grad(outputs, wanted, seeds)
        assert gpu.launched == ["primal", *CHECK, "vjp"], "the check is one of each and a difference"
        torch.autograd.grad(listed(f._dispatch(inputs)), wanted, seeds)
        assert gpu.launched[-2:] == ["primal", "vjp"], "it is made once"
        assert set(gpu.batches) == {0}
    assert all(torch.equal(a, b) for a, b in zip(outputs, expected, strict=True))
    assert all(torch.allclose(a, b, rtol=1e-12, atol=1e-12) for a, b in zip(ours, theirs, strict=True))
    assert all(
        torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in zip(before, inputs, strict=True)
    )


@pytest.mark.parametrize("name", ["pointwise", "gather", "in_place", "soft_histogram"])
def test_double_backward_and_forward_mode_go_through(name: str) -> None:
    """PyTorch's own checks of first and second derivatives, reverse and forward."""
    f, case = opened(name)
    inputs = inputs_of(case)
    moving = [i for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.requires_grad]

    def call(*given: torch.Tensor) -> Any:
        values = dict(zip(moving, given, strict=True))
        return f._dispatch(tuple(values.get(i, x) for i, x in enumerate(inputs)))

    points = tuple(inputs[i] for i in moving)
    with gpu_stand_in(f) as gpu:
        assert gradcheck(call, points, check_forward_ad=True)
        assert gradgradcheck(call, points)
    assert {"hvp", "vjp", "jvp"} <= set(gpu.launched)


def test_the_transforms_of_torch_func_give_what_the_cpu_gives() -> None:
    """Hessians in three compositions of modes, which need the second derivatives of both modes."""
    f, case = opened("gather")
    x, index = inputs_of(case)
    x = x.detach()

    def value(v: torch.Tensor) -> Any:
        return (f._dispatch((v, index)) ** 3).sum()

    expected = hessian(value)(x)
    with gpu_stand_in(f) as gpu:
        for ours in (hessian(value)(x), jacrev(jacrev(value))(x), jacfwd(jacfwd(value))(x)):
            torch.testing.assert_close(ours, expected, rtol=1e-10, atol=1e-10)
    assert {"hvp", "jvp2"} <= set(gpu.launched)
    assert max(gpu.batches) > 1


def test_a_map_is_one_launch_over_a_batch() -> None:
    """With a further grid dimension; what is not mapped is shared."""
    f, case = opened("pointwise")
    x, y, a = (v.detach() for v in inputs_of(case))
    xs = torch.randn(4, 3, *x.shape, dtype=torch.double)
    expected = torch.stack([torch.stack([f(v, y, a) for v in row]) for row in xs])
    with gpu_stand_in(f) as gpu:
        ours = vmap(vmap(lambda v: f._dispatch((v, y, a))))(xs)
        assert gpu.launched == ["primal"] and gpu.batches == [12]
        ends = vmap(lambda v: f._dispatch((v, y, 1.5)), in_dims=1, out_dims=1)(xs[0].T.contiguous().T.reshape(3, -1).T)
    torch.testing.assert_close(ours, expected)
    torch.testing.assert_close(ends.T, torch.stack([f(v, y, 1.5) for v in xs[0]]))


@pytest.mark.parametrize("name", ["pointwise", "in_place", "block_reduce"])
def test_gradients_of_a_map_are_those_of_its_elements(name: str) -> None:
    """Inside the map each element has its own; outside, what is shared has the sum."""
    f, case = opened(name)
    inputs = [x.detach() if isinstance(x, torch.Tensor) else x for x in inputs_of(case)]
    first = torch.randn(3, *inputs[0].shape, dtype=inputs[0].dtype) * 0.1 + inputs[0]

    def value(*given: Any) -> Any:
        return sum((y * y).sum() for y in listed(f._dispatch(given)))

    shared = [i for i, x in enumerate(inputs) if i and isinstance(x, torch.Tensor) and x.is_floating_point()]
    argnums = tuple([0, *shared])
    each = [grad(value, argnums)(v, *inputs[1:]) for v in first]

    def total(v: torch.Tensor, *rest: Any) -> Any:
        return vmap(value, in_dims=(0, *[None] * len(rest)))(v, *rest).sum()

    with gpu_stand_in(f) as gpu:
        inside = vmap(grad(value, argnums), in_dims=(0, *[None] * (len(inputs) - 1)))(first, *inputs[1:])
        outside = grad(total, argnums)(first, *inputs[1:])
    for k in range(len(argnums)):
        stacked = torch.stack([e[k] for e in each])
        torch.testing.assert_close(inside[k], stacked, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(outside[k], stacked if k == 0 else stacked.sum(0), rtol=1e-9, atol=1e-9)
    assert set(gpu.batches) == {3}


def test_a_batch_of_the_signature_is_one_launch_too() -> None:
    """Of several dimensions, which broadcast."""
    _, case = opened("pointwise")
    x, y, a = (v.detach() for v in inputs_of(case))
    g = enzyme(KERNELS / "pointwise.cu", "pointwise", "x[...,n], y[...,n], a -> out[...,n]")
    xs = torch.randn(2, 3, *x.shape, dtype=torch.double, requires_grad=True)
    ys = torch.randn(3, *y.shape, dtype=torch.double, requires_grad=True)
    expected = g(xs, ys, a)
    theirs = torch.autograd.grad((expected**2).sum(), (xs, ys))
    with gpu_stand_in(g) as gpu:
        ours = g._dispatch((xs, ys, a))
        gradients = torch.autograd.grad((ours**2).sum(), (xs, ys))
        assert gpu.batches[0] == 6
    torch.testing.assert_close(ours, expected)
    torch.testing.assert_close(gradients, theirs)


def test_an_empty_batch_launches_nothing_wrong() -> None:
    """And has empty results."""
    f, case = opened("pointwise")
    x, y, a = (v.detach() for v in inputs_of(case))
    with gpu_stand_in(f):
        assert vmap(lambda v: f._dispatch((v, y, a)))(x.new_empty(0, *x.shape)).shape == (0, *x.shape)


# --- checks -----------------------------------------------------------------------------------------------------------


def test_a_gradient_that_disagrees_with_the_forward_mode_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on the CPU; the error has the kernel's line."""
    f, case = opened("gather")
    x, index = inputs_of(case)
    original = StandIn.element

    def racing(self: StandIn, entry: str, mask: int, shapes: list[list[int]], slots: list[int]) -> None:
        original(self, entry, mask, shapes, slots)
        if entry == "vjp":
            memory = (ctypes.c_double * 1).from_address(slots[self.native.slots(entry, mask).index((0, 1))])
            memory[0] += 1.0

    monkeypatch.setattr(StandIn, "element", racing)
    with gpu_stand_in(f), pytest.raises(DifferentiationError, match="on the GPU is wrong") as error:
        f._dispatch((x, index)).sum().backward()
    assert error.value.code == "wrong-gradient" and error.value.line == f.manifest["prototype"]["line"]


def test_both_modes_wrong_alike_are_seen_by_differences() -> None:
    """Two zeros are equal; the function says otherwise."""
    f, case = opened("gather")
    x, index = inputs_of(case)
    with (
        gpu_stand_in(f, frozenset({"jvp", "vjp"})),
        pytest.raises(DifferentiationError, match="finite differences give") as error,
    ):
        f._dispatch((x, index)).sum().backward()
    assert error.value.code == "unproven-gradient"


def test_the_forward_mode_is_checked_too() -> None:
    """Before the first tangent is returned."""
    f, case = opened("gather")
    x, index = inputs_of(case)
    with (
        gpu_stand_in(f, frozenset({"jvp"})),
        pytest.raises(DifferentiationError, match="forward and reverse mode disagree"),
    ):
        jvp(lambda v: f._dispatch((v, index)), (x.detach(),), (torch.randn_like(x),))


@pytest.mark.parametrize("broken", ["hvp", "jvp2"])
def test_second_derivatives_are_checked_before_they_are_returned(broken: str) -> None:
    """Of the reverse mode against differences of the first, of the forward mode against those."""
    f, case = opened("gather")
    x, index = inputs_of(case)

    def value(v: torch.Tensor) -> Any:
        return f._dispatch((v, index)).sum()

    derivative = jacrev(jacrev(value)) if broken == "hvp" else jacfwd(jacfwd(value))
    with gpu_stand_in(f, frozenset({broken})), pytest.raises(DifferentiationError) as error:
        derivative(x.detach())
    assert error.value.code in ("unproven-gradient", "wrong-gradient")


def test_a_gradient_that_is_not_finite_is_said_to_be_so() -> None:
    """And not called wrong."""
    f, case = opened("gather")
    x, index = inputs_of(case)
    with gpu_stand_in(f), pytest.raises(DifferentiationError, match="it is not finite"):
        f._dispatch(((x * float("inf")), index)).sum().backward()


def test_an_unproven_gradient_is_refused_in_a_capture(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check would wait; what was proven before is used."""
    f, case = opened("gather")
    x, index = inputs_of(case)
    with gpu_stand_in(f) as gpu:
        monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
        with pytest.raises(DifferentiationError, match="once before the capture") as error:
            f._dispatch((x, index)).sum().backward()
        assert error.value.code == "unproven-in-capture" and error.value.line
        monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
        f._dispatch((x, index)).sum().backward()
        monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
        before = list(gpu.launched)
        f._dispatch((x, index)).sum().backward()
        assert gpu.launched[len(before) :] == ["primal", "vjp"]


def test_a_first_gradient_is_checked_inside_of_the_older_map_too() -> None:
    """That of is_grads_batched=True, where PyTorch refuses random numbers."""
    f, case = opened("gather")
    x, index = inputs_of(case)
    seeds = torch.randn(3, *f(x, index).shape, dtype=torch.double)
    expected = torch.autograd.grad(f(x, index), x, seeds, is_grads_batched=True)
    with gpu_stand_in(f) as gpu:
        ours = torch.autograd.grad(f._dispatch((x, index)), x, seeds, is_grads_batched=True)
        assert gpu.launched == ["primal", *CHECK, "vjp"]
    torch.testing.assert_close(ours, expected)


def test_a_check_leaves_the_users_random_numbers_alone() -> None:
    """So that a run with and without it is the same run."""
    f, case = opened("gather")
    x, index = inputs_of(case)
    torch.manual_seed(3)
    expected = torch.randn(4)
    torch.manual_seed(3)
    with gpu_stand_in(f):
        f._dispatch((x, index)).sum().backward()
    assert torch.equal(torch.randn(4), expected)


# --- errors -----------------------------------------------------------------------------------------------------------


def test_memory_that_is_not_there_is_a_device_error_with_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays and what a derivative keeps, apart; and where the kernel is."""
    f, case = opened("gather")
    x, index = inputs_of(case)
    empty = torch.empty

    def refuse(*given: Any, **options: Any) -> Any:
        if options.get("dtype") == torch.uint8:
            raise torch.cuda.OutOfMemoryError("no")
        return empty(*given, **options)

    with gpu_stand_in(f, verify="off"):
        y = f._dispatch((x, index)).sum()
        monkeypatch.setattr(torch, "empty", refuse)
        with pytest.raises(OutOfMemoryError, match=r"derivative \(vjp\) of `.*` need .* MiB on the GPU") as error:
            y.backward()
    assert error.value.code == "out-of-memory" and error.value.line
    assert "memory for what the derivative keeps 1.0 MiB" in str(error.value)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("CUDA error: an illegal memory access was encountered", "illegal-address"),
        ("CUDA error: unspecified launch failure", "kernel-failed"),
    ],
)
def test_a_fault_that_the_framework_reports_gets_the_kernels_line(
    words: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is seen while the gradient is checked, which waits."""
    f, case = opened("gather")
    x, index = inputs_of(case)

    def faulty(*_: Any) -> Any:
        raise RuntimeError(words)

    monkeypatch.setattr(cuda._Probe, "dot", faulty)
    with gpu_stand_in(f), pytest.raises(DeviceError, match=re.escape(words)) as error:
        f._dispatch((x, index)).sum().backward()
    assert error.value.code == code and error.value.line and "compute-sanitizer" in str(error.value)


def test_inputs_of_another_device_or_type_are_refused_by_name() -> None:
    """Checked before anything is launched."""
    f, _ = opened("pointwise")
    kernel = cuda.kernel_of(f._spec)
    there = torch.empty(5, dtype=torch.double, device="meta")

    class Cuda(torch.Tensor):
        @property
        def is_cuda(self) -> bool:  # type: ignore[override]
            return True

    x = there.as_subclass(Cuda)
    with pytest.raises(DeviceError, match="`y` on meta") as device:
        kernel.look_at((x, torch.zeros(5, dtype=torch.double), 1.0))
    assert device.value.code == "mixed-devices"
    with pytest.raises(DtypeError, match="`y` of `pointwise`"):
        kernel.look_at((x, there.float(), 1.0))
    with pytest.raises(DeviceError, match="`a` on meta"):
        kernel.look_at((x, there, torch.tensor(1.0, dtype=torch.double)))


def test_a_function_that_is_no_kernel_refuses_gpu_tensors() -> None:
    """It is compiled for the CPU."""
    f = enzyme(FOLDER / "signatures/classic.c", "f")
    with pytest.raises(DeviceError, match="compiled for the CPU"):
        cuda.kernel_of(f._spec)
