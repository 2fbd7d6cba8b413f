"""Calls of a kernel without the dispatcher, and what a kernel keeps of its calls' shapes.

As in ``test_cuda_calls.py``, CPU tensors pose as CUDA's and the launch alone is the CPU's. ``f._on_gpu`` is where ``apply`` goes with CUDA tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from ffgrad._torch import cuda, cuda_eager, cuda_layout
from ffgrad.errors import DifferentiationError, DtypeError, ShapeError
from ffgrad.torch import Enzyme, enzyme
from support.cuda_cases import CASES, KERNELS, gpu_stand_in, inputs_of, opened
from support.loader import Case
from torch.autograd import forward_ad, gradcheck, gradgradcheck
from torch.func import grad, jvp, vmap

TWO = """
__global__ void two(const double *x, double *y, int *sign, double *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i] * x[i], sign[i] = x[i] > 0, z[i] = 3 * x[i];
}
"""


def listed(outputs: Any) -> tuple[Any, ...]:
    """Return the outputs as a tuple."""
    return outputs if isinstance(outputs, tuple) else (outputs,)


@pytest.fixture
def dispatched(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The calls that went through the dispatcher."""
    seen: list[Any] = []
    original = Enzyme._dispatch

    def dispatch(self: Enzyme, inputs: tuple[Any, ...]) -> Any:
        seen.append(inputs)
        return original(self, inputs)

    monkeypatch.setattr(Enzyme, "_dispatch", dispatch)
    return seen


@pytest.fixture
def two(tmp_path: Path) -> Enzyme:
    """y = x x, the sign, z = 3 x."""
    source = tmp_path / "two.cu"
    source.write_text(TWO)
    return enzyme(source, "two", "x[n] -> y[n], sign[n], z[n]")


# --- plain calls ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_plain_call_gives_what_the_dispatcher_gives(case: Case, dispatched: list[Any]) -> None:
    """Values and gradients, of all inputs and of the first alone, bit by bit; by as many launches."""
    f = enzyme(case.source, case.function, case.signature, **case.options)
    inputs = tuple(inputs_of(case))
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    results = []
    with gpu_stand_in(f) as gpu:
        for call in (f._dispatch, f._on_gpu):
            outputs = listed(call(inputs))
            floats = [y for y in outputs if y.is_floating_point()]
            seeds = [torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view(y.shape) for y in floats]
            every = torch.autograd.grad(floats, wanted, seeds, retain_graph=True)
            before = len(gpu.launched)
            first = torch.autograd.grad(floats, wanted[:1], seeds, retain_graph=True)
            again = torch.autograd.grad(floats, wanted[:1], seeds)
            assert gpu.launched[-1:] == ["vjp"] and len(gpu.launched) > before
            results.append([*(y.detach() for y in outputs), *every, *first, *again])
    assert len(dispatched) == 1
    for ours, theirs in zip(results[1], results[0], strict=True):
        assert torch.equal(ours, theirs) and ours.stride() == theirs.stride()


def test_without_a_gradient_nothing_is_recorded(dispatched: list[Any]) -> None:
    """Numbers are scalars; parameters are tensors; in inference mode too."""
    f, case = opened("pointwise")
    x, y, a = inputs_of(case)
    expected = f(x, y, a).detach()
    with gpu_stand_in(f) as gpu:
        with torch.no_grad():
            values = [f._on_gpu((x, y, a)), f._on_gpu((torch.nn.Parameter(x), y, a.item()))]
        with torch.inference_mode():
            values.append(f._on_gpu((x + 0, y, a)))
        values.append(f._on_gpu((x.detach(), y.detach(), a.detach())))
        assert gpu.launched == ["primal"] * 4
    assert not dispatched and not any(v.requires_grad for v in values)
    assert all(torch.equal(v, expected) for v in values)


def test_results_have_memory_of_their_own(two: Enzyme) -> None:
    """So that they can be changed in place, and resized."""
    x = torch.randn(5, dtype=torch.double, requires_grad=True)
    with gpu_stand_in(two):
        y, sign, z = two._on_gpu((x,))
        (dx,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
        (other,) = torch.autograd.grad(y.sum(), x)
    owners = {v.untyped_storage().data_ptr() for v in (x, y, sign, z, dx, other)}
    assert len(owners) == 6
    assert all(v.untyped_storage().nbytes() == v.numel() * v.element_size() for v in (y, sign, z, dx))


def test_an_output_that_is_not_used_and_one_of_integers_have_no_cotangents(two: Enzyme, dispatched: list[Any]) -> None:
    """None stands for zero; integers need no gradient."""
    x = torch.randn(5, dtype=torch.double, requires_grad=True)
    with gpu_stand_in(two):
        y, sign, z = two._on_gpu((x,))
        assert y.requires_grad and z.requires_grad and not sign.requires_grad
        torch.testing.assert_close(torch.autograd.grad(y.sum(), x, retain_graph=True)[0], 2 * x.detach())
        torch.testing.assert_close(torch.autograd.grad(z.sum(), x)[0], torch.full_like(x, 3.0))
    assert not dispatched


def test_an_input_that_was_changed_is_refused_in_backward() -> None:
    """As PyTorch's own functions do it."""
    f, case = opened("pointwise")
    x, y, a = (v.detach() for v in inputs_of(case))
    with gpu_stand_in(f):
        out = f._on_gpu((x, y.requires_grad_(), a))
        x += 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.sum().backward()


def test_hooks_for_saved_tensors_are_asked() -> None:
    """Nothing else keeps the inputs."""
    f, case = opened("pointwise")
    inputs = tuple(inputs_of(case))
    packed: list[Any] = []
    with gpu_stand_in(f):
        expected = torch.autograd.grad(f._on_gpu(inputs).sum(), inputs)
        with torch.autograd.graph.saved_tensors_hooks(
            lambda x: packed.append(x.detach().clone()) or len(packed), lambda i: packed[i - 1]
        ):  # type: ignore[func-returns-value]
            y = f._on_gpu(inputs)
        ours = torch.autograd.grad(y.sum(), inputs)
    assert len(packed) == 3
    assert all(torch.equal(a, b) for a, b in zip(ours, expected, strict=True))


# --- what is not plain is left to the operators -----------------------------------------------------------------------


def test_second_derivatives_and_the_forward_mode_of_a_plain_call_go_through() -> None:
    """PyTorch's own checks."""
    f, case = opened("gather")
    x, index = inputs_of(case)

    def call(v: torch.Tensor) -> Any:
        return f._on_gpu((v, index))

    with gpu_stand_in(f) as gpu:
        assert gradcheck(call, (x,), check_forward_ad=True, check_batched_grad=True)
        assert gradgradcheck(call, (x,))
    assert {"hvp", "vjp", "jvp"} <= set(gpu.launched)
    assert max(gpu.batches) > 1, "is_grads_batched=True is one launch"


def test_a_third_derivative_is_refused() -> None:
    """And not zero."""
    f, case = opened("pointwise")
    x, y, a = inputs_of(case)
    with gpu_stand_in(f), pytest.raises(DifferentiationError, match="third derivatives"):
        out = f._on_gpu((x, y, a)).sum()
        for _ in range(3):
            (out,) = (g.sum() for g in torch.autograd.grad(out, x, create_graph=True))


class Marked(torch.Tensor):
    """A tensor of a type of its own."""


class Counting(torch.utils._python_dispatch.TorchDispatchMode):
    """Sees operators."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(function))
        return function(*args, **(kwargs or {}))


def negated(x: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose elements are negated when they are read."""
    return torch._neg_view(-x)  # type: ignore[attr-defined]


UNUSUAL: dict[str, Callable[[Any, torch.Tensor], Any]] = {
    "vmap": lambda call, x: vmap(call)(x[None])[0],
    "older map": lambda call, x: torch._vmap_internals._vmap(call)(x[None])[0],
    "func.jvp": lambda call, x: jvp(call, (x,), (x,))[0],
    "dual": lambda call, x: dual(call, x),
    "subclass": lambda call, x: call(x.as_subclass(Marked)),
    "negated": lambda call, x: call(negated(x)),
    "profiler": lambda call, x: profiled(call, x),
    "dispatch mode": lambda call, x: counted(call, x),
}


def dual(call: Any, x: torch.Tensor) -> Any:
    """Call on a dual number."""
    with forward_ad.dual_level():
        y = call(forward_ad.make_dual(x, torch.ones_like(x)))
        value, tangent = forward_ad.unpack_dual(y)
        assert tangent is not None
        return value.clone()


def profiled(call: Any, x: torch.Tensor) -> Any:
    """Call under a profiler."""
    with torch.profiler.profile() as profiler:
        y = call(x)
    assert "ffgrad::pointwise" in {row.key for row in profiler.key_averages()}
    return y


def counted(call: Any, x: torch.Tensor) -> Any:
    """Call in a mode that sees operators."""
    with Counting() as mode:
        y = call(x)
    assert "ffgrad.primal.default" in mode.seen
    return y


@pytest.mark.parametrize("how", UNUSUAL)
def test_what_is_not_plain_goes_through_the_dispatcher(how: str, dispatched: list[Any]) -> None:
    """Which knows transforms, modes and kinds of tensors."""
    f, case = opened("pointwise")
    x, y, a = (v.detach() for v in inputs_of(case))
    expected = f(x, y, a)
    with gpu_stand_in(f):
        ours = UNUSUAL[how](lambda v: f._on_gpu((v, y, a)), x)
    assert len(dispatched) == 1
    torch.testing.assert_close(ours.as_subclass(torch.Tensor), expected)


def test_a_cotangent_that_is_not_plain_goes_through_the_operators() -> None:
    """Of a call that was plain."""
    f, case = opened("pointwise")
    x, y, a = inputs_of(case)
    with gpu_stand_in(f):
        out = f._on_gpu((x, y, a))
        seed = torch.randn_like(out)
        (expected,) = torch.autograd.grad(out, x, seed, retain_graph=True)
        (ours,) = torch.autograd.grad(out, x, negated(seed), retain_graph=True)
        assert torch.equal(ours, expected)
        with forward_ad.dual_level():
            (pushed,) = torch.autograd.grad(out, x, forward_ad.make_dual(seed, 2 * seed), retain_graph=True)
            assert torch.equal(forward_ad.unpack_dual(pushed).tangent, 2 * expected)
        mapped = vmap(lambda v: torch.autograd.grad(out, x, v, retain_graph=True)[0])(torch.stack([seed, -seed]))
        assert torch.equal(mapped, torch.stack([expected, -expected]))


def test_tensors_are_known_to_be_plain_also_where_the_first_one_was_asked_for_in_inference_mode() -> None:
    """What is remembered does not depend on where it was learnt."""
    x = torch.ones(2)
    cuda_eager._PLAIN.clear()
    with torch.inference_mode():
        assert cuda_eager.is_plain([x, torch.ones(2)])
    assert cuda_eager.is_plain([x, torch.nn.Parameter(x)])
    assert not cuda_eager.is_plain([x, x.to_sparse()])


# --- what is kept of the shapes ---------------------------------------------------------------------------------------


def test_calls_of_other_shapes_strides_and_values_do_not_meet(dispatched: list[Any]) -> None:
    """Each gives what the CPU gives, with and without a gradient, again and again."""
    f, _ = opened("pointwise")

    def drawn(n: int) -> torch.Tensor:
        return torch.rand(n, dtype=torch.double) + 0.5

    a = torch.tensor(0.7, dtype=torch.double)
    calls = [(drawn(n), drawn(n), scale) for n in (1, 5, 3) for scale in (a, 2 * a, 1.5)]
    calls += [(drawn(10)[::2], drawn(20)[::4], a), (drawn(1).expand(5), drawn(5).flip(0), a)]
    expected = [(f(*call), torch.func.grad(lambda v, c=call: f(v, *c[1:]).sum())(call[0])) for call in calls]
    dispatched.clear()
    with gpu_stand_in(f) as gpu:
        for _ in range(2):
            for call, (value, gradient) in zip(calls, expected, strict=True):
                x = call[0].detach().requires_grad_()
                y = f._on_gpu((x, *call[1:]))
                torch.testing.assert_close(y.detach(), value)
                # A cotangent without strides.
                torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], gradient)
        assert set(gpu.batches) == {0}
        assert len(cuda._KERNELS[f._spec].layouts) == 3
    assert not dispatched


def test_an_integer_by_value_is_read_at_every_call() -> None:
    """It is no shape."""
    f, case = opened("in_place")
    state, damping, _ = (x.detach() if isinstance(x, torch.Tensor) else x for x in inputs_of(case))
    expected = [f(state, damping, n) for n in range(5)]
    with gpu_stand_in(f):
        for _ in range(2):
            for n in range(5):
                assert torch.equal(f._on_gpu((state, damping, n)), expected[n])
                assert torch.equal(f._on_gpu((state, damping, torch.tensor(n, dtype=torch.int32))), expected[n])
        with pytest.raises(DtypeError, match="cannot be given as float"):
            f._on_gpu((state, damping, 2.0))


def test_what_does_not_fit_is_refused_after_calls_that_did() -> None:
    """Another type of the same shape, another shape; and is not kept."""
    f, case = opened("pointwise")
    x, y, a = (v.detach() for v in inputs_of(case))
    with gpu_stand_in(f):
        expected = f._on_gpu((x, y, a))
        for _ in range(2):
            with pytest.raises(DtypeError, match="`x` of `pointwise`: expected float64, found float32"):
                f._on_gpu((x.float(), y, a))
            with pytest.raises(ShapeError, match="number of elements|dimension 0"):
                f._on_gpu((x, y[1:], a))
            with pytest.raises(ShapeError):
                f._on_gpu((x[None], y[None], a))
        assert torch.equal(f._on_gpu((x, y, a)), expected)
        assert len(cuda._KERNELS[f._spec].layouts) == 1


def test_a_batch_and_a_call_of_the_same_shapes_do_not_meet() -> None:
    """Of a map, of the signature, of both; what is shared has other sums."""
    g = enzyme(KERNELS / "pointwise.cu", "pointwise", "x[...,n], y[...,n], a -> out[...,n]")
    _, case = opened("pointwise")
    x, y, a = (v.detach() for v in inputs_of(case))
    xs = torch.randn(2, 3, *x.shape, dtype=torch.double)
    ways: list[Callable[[Any], Any]] = [
        lambda call: call(x, y, a),
        lambda call: call(xs, y, a),
        lambda call: call(xs, xs, a),
        lambda call: vmap(lambda v: call(v, y, a))(xs),
        lambda call: vmap(lambda v: call(v, v, a))(xs),
        lambda call: vmap(vmap(lambda v: call(v, y, a)))(xs),
        lambda call: vmap(lambda v: call(xs[:, 0], v, a), in_dims=1, out_dims=1)(xs),
        lambda call: grad(lambda v: call(xs, v, a).sum())(y),
        lambda call: grad(lambda v: call(xs, y, v).sum())(a),
        lambda call: grad(lambda v: call(x, y, v).sum())(a),
        lambda call: vmap(grad(lambda v: call(v, y, a).sum()))(xs[0]),
        lambda call: grad(lambda v: vmap(lambda w: call(w, v, a))(xs).sum())(y),
    ]
    expected = [way(g) for way in ways]
    with gpu_stand_in(g):
        for order in (range(len(ways)), reversed(range(len(ways)))):
            for i in order:
                torch.testing.assert_close(ways[i](lambda *v: g._on_gpu(v)), expected[i])


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is full it begins again, and calls give the same."""
    monkeypatch.setattr(cuda_layout.Layouts, "MOST", 3)
    f, _ = opened("pointwise")
    a = torch.tensor(0.7, dtype=torch.double)
    xs = [torch.rand(n, dtype=torch.double) for n in (2, 3, 4, 5, 2, 6, 7, 3)]
    expected = [f(x, x, a) for x in xs]
    with gpu_stand_in(f):
        layouts, sizes = cuda._KERNELS[f._spec].layouts, []
        for x, value in zip(xs, expected, strict=True):
            assert torch.equal(f._on_gpu((x, x, a)), value)
            sizes.append(len(layouts))
        assert sizes == [1, 2, 3, 1, 2, 3, 1, 2]
