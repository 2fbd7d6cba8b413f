"""CUDA kernels on a GPU, against the CPU as a device. Skipped where there is none; ``make gpu`` runs them where there is one."""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest
import torch
from ffgrad.errors import DeviceError, DifferentiationError, DtypeError
from ffgrad.torch import enzyme
from support.cuda_cases import CASES, inputs_of, on_gpu, opened
from support.loader import Case
from torch.func import grad, hessian, vmap

# On a machine without a compiler all is in the cache (``gpu_kit.py``), but for sources that a test writes.
needs_compiler = pytest.mark.skipif("FFGRAD_GPU_KIT" in os.environ, reason="there is no compiler on this machine")
PLAIN = [case for case in CASES if not {"shared", "shuffle"} & set(case.tags)]


def listed(outputs: Any) -> tuple[Any, ...]:
    """Return the outputs as a tuple."""
    return outputs if isinstance(outputs, tuple) else (outputs,)


def closeness(case: Case, times: float = 1.0) -> dict[str, float]:
    """Return how closely GPU and CPU must agree: atomics add up in any order."""
    rtol, atol = (1e-4, 1e-5) if case.dtype == "float32" else (1e-10, 1e-12)
    return {"rtol": times * rtol, "atol": times * atol}


def both(case: Case) -> tuple[Any, list[Any], list[Any], list[int]]:
    """Return the operation, its inputs on the CPU and on the GPU, and the positions of those with a gradient."""
    f = enzyme(case.source, case.function, case.signature, **case.options)
    here, there = inputs_of(case), inputs_of(case, "cuda")
    return f, here, there, [i for i, x in enumerate(here) if isinstance(x, torch.Tensor) and x.requires_grad]


@on_gpu
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_kernel_on_the_gpu_agrees_with_the_cpu(case: Case) -> None:
    """Values, gradients several times (no race), forward mode; the check by itself runs before the first gradient."""
    f, here, there, wanted = both(case)
    ours, theirs = listed(f(*there)), listed(f(*here))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a.cpu(), b, **closeness(case))
    seeds = [torch.randn_like(y) for y in theirs if y.is_floating_point()]
    floats = [[y for y in outputs if y.is_floating_point()] for outputs in (ours, theirs)]
    expected = torch.autograd.grad(floats[1], [here[i] for i in wanted], seeds)
    for _ in range(5):
        got = torch.autograd.grad(floats[0], [there[i] for i in wanted], [s.cuda() for s in seeds], retain_graph=True)
        for a, b in zip(got, expected, strict=True):
            torch.testing.assert_close(a.cpu(), b, **closeness(case))


@on_gpu
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_forward_mode_on_the_gpu_agrees_with_the_cpu(case: Case) -> None:
    """J t for random t."""
    f, here, there, wanted = both(case)
    tangents = [torch.randn_like(here[i]) for i in wanted]

    def pushed(inputs: list[Any], device: str) -> tuple[Any, ...]:
        with torch.autograd.forward_ad.dual_level():
            duals = list(inputs)
            for i, t in zip(wanted, tangents, strict=True):
                duals[i] = torch.autograd.forward_ad.make_dual(inputs[i].detach(), t.to(device))
            return tuple(torch.autograd.forward_ad.unpack_dual(y).tangent for y in listed(f(*duals)))

    for a, b in zip(pushed(there, "cuda"), pushed(here, "cpu"), strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            torch.testing.assert_close(a.cpu(), b, **closeness(case))


@on_gpu
@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_double_backward_on_the_gpu_agrees_with_the_cpu(case: Case) -> None:
    """The derivative of a gradient along random directions."""
    f, here, there, wanted = both(case)
    directions = [torch.randn_like(here[i]) for i in wanted]
    weights = [torch.randn_like(y) for y in listed(f(*here)) if y.is_floating_point()]

    def second(inputs: list[Any], device: str) -> tuple[Any, ...]:
        outputs = [y for y in listed(f(*inputs)) if y.is_floating_point()]
        points = [inputs[i] for i in wanted]
        seeds = [w.to(device) for w in weights]
        first = torch.autograd.grad(outputs, points, seeds, create_graph=True)
        total = sum((g * d.to(device)).sum() for g, d in zip(first, directions, strict=True))
        return torch.autograd.grad(total, points, allow_unused=True, materialize_grads=True)

    for a, b in zip(second(there, "cuda"), second(here, "cpu"), strict=True):
        torch.testing.assert_close(a.cpu(), b, **closeness(case, 10))


@on_gpu
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_map_on_the_gpu_agrees_with_its_elements(case: Case) -> None:
    """Values and gradients, what is shared summed; one launch over the batch."""
    f, _, there, wanted = both(case)
    plain = [x.detach() if isinstance(x, torch.Tensor) else x for x in there]
    at = wanted[0]
    batch = plain[at] + 0.01 * torch.rand(3, *plain[at].shape, dtype=plain[at].dtype, device="cuda")

    def value(v: torch.Tensor) -> Any:
        outputs = listed(f(*plain[:at], v, *plain[at + 1 :]))
        return sum((y * y).sum() for y in outputs if y.is_floating_point())

    each = torch.stack([grad(value)(v) for v in batch])
    torch.testing.assert_close(vmap(grad(value))(batch), each, **closeness(case, 10))


@on_gpu
def test_a_hessian_on_the_gpu_agrees_with_the_cpu() -> None:
    """Forward over reverse, mapped."""
    f, case = opened("gather")
    x, index = inputs_of(case)
    x = x.detach()

    def value(v: torch.Tensor) -> Any:
        return (f(v, index.to(v.device)) ** 3).sum()

    torch.testing.assert_close(hessian(value)(x.cuda()).cpu(), hessian(value)(x), rtol=1e-9, atol=1e-9)


@on_gpu
@pytest.mark.parametrize("name", ["pointwise", "block_reduce", "matmul"])
def test_a_gradient_can_be_captured_in_a_cuda_graph_and_replayed(name: str) -> None:
    """Nothing synchronises, and memory comes from the graph's own pool; matmul's derivative allocates."""
    f, case = opened(name)
    inputs = [x.detach() if isinstance(x, torch.Tensor) else x for x in inputs_of(case, "cuda")]
    inputs[0].requires_grad_()

    def step() -> tuple[torch.Tensor, torch.Tensor]:
        y = listed(f(*inputs))[0]
        return y, torch.autograd.grad((y * y).sum(), inputs[0])[0]

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step()
    for _ in range(3):
        with torch.no_grad():
            inputs[0].mul_(0.9)
        graph.replay()
        for a, b in zip(captured, step(), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)


@on_gpu
def test_what_is_not_loaded_or_proven_is_refused_in_a_capture() -> None:
    """The capture continues."""
    # A function of its own: nothing of it is loaded yet.
    f, case = opened("cross_sections", timeout=301)
    inputs = inputs_of(case, "cuda")
    x = torch.ones(3, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x + 1
        with pytest.raises(DeviceError, match="once before the capture"):
            f(*inputs)
    graph.replay()
    assert y.tolist() == [2, 2, 2]
    f(*inputs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), pytest.raises(DifferentiationError, match="once before the capture"):
        sum(v.sum() for v in listed(f(*inputs))).backward()  # type: ignore[union-attr]


@on_gpu
def test_a_plain_call_on_the_gpu_does_without_the_dispatcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """And gives what the dispatcher gives; numbers too. A map goes through it."""
    f, case = opened("pointwise")
    x, y, a = inputs_of(case, "cuda")
    seed = torch.rand_like(x)
    expected = f._dispatch((x, y, a))
    gradients = torch.autograd.grad(expected, (x, y, a), seed)
    seen: list[Any] = []
    original = f._dispatch
    monkeypatch.setattr(f, "_dispatch", lambda inputs: seen.append(inputs) or original(inputs))  # type: ignore[func-returns-value]
    value = f(x, y, a)
    torch.testing.assert_close(value, expected)
    for ours, theirs in zip(torch.autograd.grad(value, (x, y, a), seed), gradients, strict=True):
        torch.testing.assert_close(ours, theirs)
    with torch.inference_mode():
        torch.testing.assert_close(f(x, y, 1.5), f(x, y, torch.full_like(a, 1.5)))
    assert not seen
    vmap(lambda v: f(v, y, a))(x.detach()[None])
    assert len(seen) == 1


@on_gpu
def test_launches_go_to_the_current_stream() -> None:
    """Two streams, two derivatives that allocate, and none takes the other's memory."""
    f, case = opened("matmul")
    inputs = [x.detach() for x in inputs_of(case, "cuda")]

    def step(scale: float) -> Any:
        a = (inputs[0] * scale).requires_grad_()
        return torch.autograd.grad(f(a, *inputs[1:]).sum(), a)[0]

    expected = [step(float(k)) for k in range(4)]
    streams = [torch.cuda.Stream() for _ in range(4)]
    for _ in range(20):
        results = []
        for k, stream in enumerate(streams):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                results.append(step(float(k)))
        torch.cuda.synchronize()
        for a, b in zip(results, expected, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


@on_gpu
def test_each_device_has_modules_of_its_own_and_the_current_one_stays() -> None:
    """On the second GPU as on the first."""
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    f, case = opened("block_reduce")
    (x,) = inputs_of(case)
    results = []
    for device in ("cuda:0", "cuda:1", "cuda:0"):
        there = x.detach().to(device).requires_grad_()
        before = torch.cuda.current_device()
        y = f(there)
        y.sum().backward()
        assert torch.cuda.current_device() == before and y.device == there.device
        assert there.grad is not None
        results.append(there.grad.cpu())
    torch.testing.assert_close(results[0], results[1])
    torch.testing.assert_close(results[0], results[2])


@on_gpu
def test_a_call_compiled_by_torch_agrees_with_the_eager_one() -> None:
    """The operators are opaque to the compiler."""
    f, case = opened("pointwise")
    x, y, a = (v.detach() for v in inputs_of(case, "cuda"))

    def value(v: torch.Tensor) -> Any:
        return (f(v, y, a) * 2).sum()

    compiled = torch.compile(value)
    there = x.clone().requires_grad_()
    ours = torch.autograd.grad(compiled(there), there)[0]
    theirs = torch.autograd.grad(value(there), there)[0]
    torch.testing.assert_close(ours, theirs)


@on_gpu
def test_a_derivative_that_keeps_more_than_its_first_pool_is_right() -> None:
    """More than a gigabyte; then in a captured graph, where no host can repeat it."""
    f, case = opened("particle_forces")
    n = 3000
    there = [torch.rand(n, 2, dtype=torch.double, device="cuda"), torch.rand(n, dtype=torch.double, device="cuda")]
    soft = torch.tensor(0.3, dtype=torch.double, device="cuda")
    x, mass = there

    def same(position: torch.Tensor) -> torch.Tensor:
        d = position[None] - position[:, None]
        strength = mass[:, None] * mass[None] * ((d * d).sum(-1) + soft * soft) ** -1.5
        return (strength[..., None] * d).sum(1)

    def gradient(of: Any) -> torch.Tensor:
        at = x.clone().requires_grad_()
        return torch.autograd.grad((of(at) ** 2).sum(), at)[0]

    expected = gradient(same)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.testing.assert_close(gradient(lambda at: f(at, mass, soft)), expected, rtol=1e-9, atol=1e-9)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = gradient(lambda at: f(at, mass, soft))
    graph.replay()
    torch.testing.assert_close(captured, expected, rtol=1e-9, atol=1e-9)


@on_gpu
def test_tensors_on_cpu_and_gpu_together_are_refused() -> None:
    """The error names both devices."""
    f, _ = opened("pointwise")
    x = torch.randn(5, dtype=torch.double)
    with pytest.raises(DeviceError, match="different devices"):
        f(x.cuda(), x, 1.0)


@on_gpu
@needs_compiler
def test_a_block_that_the_derivative_cannot_have_is_refused_before_it_is_launched(tmp_path: Any) -> None:
    """With the registers that it needs; or it fits, and is right."""
    source = tmp_path / "wide.cu"
    body = "\n".join(f"  double a{k} = sin(x[i] * {k}.5) * exp(-x[i] * x[(i + {k}) % n]);" for k in range(40))
    total = " + ".join(f"a{k} * a{(k + 7) % 40}" for k in range(40))
    source.write_text(
        "__global__ void wide(const double *x, double *y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
        + body
        + f"\n  y[i] = {total};\n}}\n"
    )
    f = enzyme(source, "wide", "x[n] -> y[n]", block=1024)
    x = torch.rand(2048, dtype=torch.double, device="cuda", requires_grad=True)
    try:
        f(x).sum().backward()
    except DeviceError as error:
        assert error.code == "launch-resources" and error.line == 1 and "registers" in str(error)
    else:
        there = x.detach().cpu().requires_grad_()
        f(there).sum().backward()
        torch.testing.assert_close(x.grad.cpu(), there.grad)  # type: ignore[union-attr]


@on_gpu
@needs_compiler
def test_an_integer_by_value_is_a_number_and_no_tensor_of_the_gpu(tmp_path: Any) -> None:
    """Reading it would wait."""
    source = tmp_path / "scaled.cu"
    source.write_text(
        "__global__ void scaled(const double *x, int times, double *y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i] * times;\n}\n"
    )
    f = enzyme(source, "scaled", "x[n], times -> y[n]")
    x = torch.ones(5, dtype=torch.double, device="cuda")
    assert f(x, 3).tolist() == [3.0] * 5
    with pytest.raises(DtypeError, match="Python number"):
        f(x, torch.tensor(3, dtype=torch.int32, device="cuda"))


@on_gpu
@needs_compiler
def test_autocast_converts_for_a_kernel(tmp_path: Any) -> None:
    """To the parameter's type; without it the short type is refused."""
    source = tmp_path / "square.cu"
    source.write_text(
        "__global__ void square(const float *x, float *y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i] * x[i];\n}\n"
    )
    f = enzyme(source, "square", "x[n] -> y[n]")
    x = torch.full((2,), 3.0, dtype=torch.bfloat16, device="cuda", requires_grad=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        y = f(x)
    y.sum().backward()
    assert y.dtype == torch.float32 and y.tolist() == [9.0, 9.0]
    assert x.grad is not None and x.grad.tolist() == [6.0, 6.0]
    with pytest.raises(DtypeError):
        f(x)


def test_nvidia_smi_and_torch_agree_on_whether_there_is_a_gpu() -> None:
    """So that the tests above are not skipped by mistake."""
    if shutil.which("nvidia-smi") is None:
        pytest.skip("there is no nvidia-smi")
    assert torch.cuda.is_available()
