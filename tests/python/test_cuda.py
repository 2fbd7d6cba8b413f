"""CUDA kernels beyond the conformance table: launches, refusals, PTX; and how calls reach a GPU, where none is.

What needs a GPU runs where there is one (``make test-cuda``) and is skipped elsewhere.
"""

from __future__ import annotations

import collections
import ctypes
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from cases.loader import HERE, Case, load_cases
from ffgrad._torch import cuda
from ffgrad.errors import CompileError, DeviceError, DifferentiationError, DtypeError, ToolchainError
from ffgrad.torch import Enzyme, enzyme
from torch.autograd import gradcheck

CASES = list(load_cases(tags=["cuda"]))
KERNELS = HERE / "cuda"
GOLDENS = Path(__file__).with_name("goldens_ptx")
on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


def opened(name: str, **options: Any) -> tuple[Enzyme, Case]:
    """Open a case of the table."""
    (case,) = load_cases(names=[f"cuda_{name}"])
    return enzyme(case.source, case.function, case.signature, **{**case.options, **options}), case


def inputs_of(case: Case, device: str = "cpu") -> list[torch.Tensor]:
    """Draw the inputs of a case."""
    values = [torch.tensor(a, device=device) for a in case.make_inputs()]
    return [v.requires_grad_(item.differentiable) for v, item in zip(values, case.inputs, strict=True)]


def ptx_of(name: str, *entries: str) -> tuple[str, list[str]]:
    """Return the PTX of a case's kernels and what ptxas says; skip where the tools for GPUs are not installed."""
    f, _ = opened(name)
    try:
        text, needs, _ = f._native.ptx(list(entries), f._native.differentiable, "sm_80")
    except ToolchainError as error:
        assert "ffgrad toolchain install cuda" in str(error)
        pytest.skip(f"the CUDA tools are not installed: {error}")
    return text, needs


# --- launches -----------------------------------------------------------------------------------------------------


def test_a_callable_chooses_the_launch_from_the_dimensions() -> None:
    """It is given every dimension by name, and called at each call."""
    seen: list[dict[str, int]] = []

    def grid(dims: dict[str, int]) -> int:
        seen.append(dims)
        return (dims["n"] + 31) // 32

    f = enzyme(KERNELS / "pointwise.cu", "pointwise", "x[n], y[n], a -> out[n]", grid=grid, block=32)
    x, y = torch.randn(2, 50, dtype=torch.double)
    assert torch.allclose(f(x, y, 1.0), x + y.sin() * (-x * x).exp() + 1 + y * y)
    assert seen[0] == {"n": 50}


def test_two_callables_for_one_kernel_stay_apart() -> None:
    """Functions that differ in nothing but the callable are two functions."""
    signature = "x[n], y[n], a -> out[n]"
    half, full = (
        enzyme(KERNELS / "pointwise.cu", "pointwise", signature, grid=lambda _, blocks=blocks: blocks, block=32)
        for blocks in (1, 2)
    )
    x = torch.ones(64, dtype=torch.double, requires_grad=True)
    assert (half(x, x, 1.0)[32:] == 0).all()
    assert (full(x, x, 1.0) != 0).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"block": 2048}, "2048 x 1 x 1"),
        ({"grid": "m", "block": 32}, "`m`, which is no dimension"),
        ({"block": [8, 8]}, "needs a `grid`"),
        ({"shared": 1 << 20}, "1048576 bytes of shared memory"),
        ({"grid": "n +"}, "the option `grid`"),
        ({"grid": lambda _: 1 / 0}, "division by zero"),
    ],
)
def test_a_launch_that_no_gpu_can_do_is_refused(options: dict[str, Any], words: str) -> None:
    """On the CPU too, so that what works here works there."""
    with pytest.raises(DeviceError, match=re.escape(words)):
        f = enzyme(KERNELS / "pointwise.cu", "pointwise", "x[n], y[n], a -> out[n]", **options)
        f(*torch.randn(2, 5, dtype=torch.double), 1.0)


def test_launch_options_are_for_kernels_only() -> None:
    """A C function has no grid."""
    with pytest.raises(DeviceError, match="CUDA kernels"):
        enzyme(HERE / "classic.c", "f", grid=1)


def test_an_empty_array_launches_nothing() -> None:
    """And its gradient is empty."""
    f, _ = opened("pointwise")
    x = torch.empty(0, dtype=torch.double, requires_grad=True)
    f(x, x, 1.0).sum().backward()
    assert x.grad is not None and x.grad.shape == (0,)


# --- how threads run ------------------------------------------------------------------------------------------------


def test_calls_from_several_threads_do_not_meet_in_shared_memory() -> None:
    """Shared memory is one of each thread of the process."""
    f, case = opened("block_reduce")
    (x,) = inputs_of(case)
    expected = torch.autograd.grad(f(x), x)[0]
    results: list[torch.Tensor] = []

    def work() -> None:
        for _ in range(50):
            own = x.detach().clone().requires_grad_()
            results.append(torch.autograd.grad(f(own), own)[0])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 200 and all(torch.equal(r, expected) for r in results)


def test_threads_that_return_before_a_barrier_do_not_hang_the_others(tmp_path: Path) -> None:
    """A thread that has ended counts as having arrived."""
    source = tmp_path / "early.cu"
    source.write_text(
        """__global__ void early(const double *x, double *y, int n) {
             __shared__ double s[32];
             int t = threadIdx.x;
             if (t >= n) return;
             s[t] = x[t] * x[t];
             __syncthreads();
             y[t] = s[(t + 1) % n];
           }"""
    )
    f = enzyme(source, "early", "x[n] -> y[n]", grid=1, block=32)
    x = torch.randn(9, dtype=torch.double, requires_grad=True)
    assert torch.allclose(f(x), (x * x).roll(-1))
    assert gradcheck(f, (x,))


def test_a_device_function_can_be_named(tmp_path: Path) -> None:
    """It runs as a kernel's body would."""
    source = tmp_path / "device.cu"
    source.write_text("__device__ void cube(const double *x, double *y) { y[threadIdx.x] = pow(x[threadIdx.x], 3.0); }")
    f = enzyme(source, "cube", "x[n] -> y[n]", grid=1, block="n")
    x = torch.rand(7, dtype=torch.double, requires_grad=True)
    assert torch.allclose(f(x), x**3)
    assert gradcheck(f, (x,))


TEMPLATES = """
namespace shapes {
template <typename T, int N> __device__ T power(T x) { T y = 1; for (int i = 0; i < N; i++) y *= x; return y; }
template <typename T, int N> __global__ void powers(const T *x, T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = power<T, N>(x[i]);
}
}
"""


@pytest.mark.parametrize("dtype", [torch.double, torch.float], ids=str)
def test_an_instance_of_a_template_kernel_can_be_named(tmp_path: Path, dtype: torch.dtype) -> None:
    """In a namespace, with types and numbers."""
    source = tmp_path / "powers.cu"
    source.write_text(TEMPLATES)
    name = "double" if dtype == torch.double else "float"
    x = torch.linspace(0.5, 1.5, 700, dtype=dtype, requires_grad=True)
    y = enzyme(source, f"shapes::powers<{name}, 3>", "x[n] -> y[n]")(x)
    torch.testing.assert_close(y, x**3)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(gradient, 3 * x**2)


def test_an_instance_of_a_template_reaches_the_gpus_assembler(tmp_path: Path) -> None:
    """Two instances of one source are two kernels."""
    ptx_of("gather", "primal")
    source = tmp_path / "powers.cu"
    source.write_text(TEMPLATES)
    for name, kind, other in (("double", ".f64", ".f32"), ("float", ".f32", ".f64")):
        text, _, _ = enzyme(source, f"shapes::powers<{name}, 3>", "x[n] -> y[n]")._native.ptx(["vjp"], 1, "sm_80")
        assert f"atom.global.add{kind}" in text and other not in text


def test_an_instance_of_a_template_device_function_can_be_named(tmp_path: Path) -> None:
    """As a device function that is no template."""
    source = tmp_path / "powers.cu"
    source.write_text(TEMPLATES + "template <class T> __device__ void twice(const T *x, T *y) { *y = *x + *x; }\n")
    x = torch.tensor([1.5], dtype=torch.double, requires_grad=True)
    y = enzyme(source, "twice<double>", "x[1] -> y[1]", grid=1, block=1)(x)
    assert y.item() == 3.0 and torch.autograd.grad(y.sum(), x)[0].item() == 2.0


def test_second_derivatives_are_given_without_shared_memory_and_refused_with_it() -> None:
    """The shadow of shared memory has no shadow."""
    f, case = opened("gather")
    x, index = inputs_of(case)
    assert torch.autograd.gradgradcheck(lambda v: f(v, index), (x,))
    g, case = opened("block_reduce")
    (x,) = inputs_of(case)
    (first,) = torch.autograd.grad(g(x), x, create_graph=True)
    with pytest.raises((DifferentiationError, RuntimeError), match="shared memory"):
        first.sum().backward()


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "words", "line"),
    [
        ('asm volatile("trap;");', "inline PTX", 3),
        ("__nvvm_bar_sync(1);", "a barrier other than", 3),
        ("y[threadIdx.x] = weights[threadIdx.x];", "constant memory `weights`, which has no value", 1),
        ("__halves2half2(x, y);", "__halves2half2", 3),
    ],
)
def test_what_a_kernel_may_not_use_is_named_with_its_line(tmp_path: Path, body: str, words: str, line: int) -> None:
    """As a compile error, before anything runs."""
    source = tmp_path / "bad.cu"
    source.write_text(
        f"__constant__ double weights[4];\n__global__ void bad(const double *x, double *y) {{\n{body}\n"
        "y[threadIdx.x] += x[threadIdx.x]; }\n"
    )
    with pytest.raises(CompileError, match=re.escape(words)) as error:
        enzyme(source, "bad", "x[n] -> y[n]", grid=1, block="n")
    assert error.value.line == line


def test_without_a_driver_a_launch_is_a_device_error_that_says_so() -> None:
    """And offers the CPU."""
    f, _ = opened("pointwise")
    if torch.cuda.is_available():
        pytest.skip("there is a driver")
    with pytest.raises(DeviceError, match="NVIDIA driver"):
        f._native.launch("primal", 0, (0, 0, 0, 0), [[5], [5], []], [0, 0, 0, 0, 0])


def test_tensors_of_another_device_or_type_are_refused_by_name() -> None:
    """Checked before anything is launched."""
    f, _ = opened("pointwise")
    gpu = f._gpu
    assert gpu is not None
    device, x = torch.device("meta"), torch.empty(5, dtype=torch.double, device="meta")
    with pytest.raises(DeviceError, match="`x` on meta") as error:
        gpu._input(0, torch.zeros(5, dtype=torch.double), device)
    assert error.value.code == "mixed-devices"
    with pytest.raises(DtypeError, match="`x` of `pointwise`"):
        gpu._input(0, x.float(), device)
    assert gpu._input(2, 2.0, device).dtype == torch.double
    with pytest.raises(DtypeError, match="Python number"):
        gpu._input(4, torch.tensor(3, device="meta"), device)


# --- the GPU's calls, with the CPU in its place -----------------------------------------------------------------------


class CpuInItsPlace:
    """A native function whose launches read and write the addresses they are given, by means of the CPU device."""

    def __init__(self, native: Any) -> None:
        self.native = native
        self.launched: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.native, name)

    def launch(self, entry: str, mask: int, target: Any, shapes: list[list[int]], slots: list[int]) -> None:
        """Do on the CPU what the launch would do on the GPU."""
        self.launched.append(entry)
        kernel = cuda.Kernel(self.native, "off")
        all_shapes = self.native.shapes(shapes)
        at = dict(zip(self.native.slots(entry, mask), slots, strict=True))

        def tensor(arg: int, shadow: bool = False) -> torch.Tensor:
            count = torch.Size(all_shapes[arg]).numel()
            size = max(count * kernel.dtypes[arg].itemsize, 1)
            memory = (ctypes.c_char * size).from_address(at[arg, shadow])
            return torch.frombuffer(memory, dtype=kernel.dtypes[arg], count=count).view(all_shapes[arg])

        plain = [kernel.args[i]["passing"] == "value" and not kernel.dtypes[i].is_floating_point for i in kernel.inputs]
        inputs = tuple(at[i, False] if p else tensor(i) for i, p in zip(kernel.inputs, plain, strict=True))
        if entry == "primal":
            for arg, y in zip(kernel.outputs, self.native.primal(inputs, 0), strict=True):
                tensor(arg).copy_(y)
        elif entry == "vjp":
            cotangents = tuple(tensor(o, True).clone() for o in kernel.outputs)
            for arg, dx in zip(kernel.inputs, self.native.vjp(inputs, cotangents, mask), strict=True):
                if dx is not None:
                    in_place = kernel.args[arg]["role"] == "inout"
                    tensor(arg, True).copy_(dx) if in_place else tensor(arg, True).add_(dx)
        else:
            tangents = tuple(tensor(i, True).clone() if (i, True) in at else None for i in kernel.inputs)
            for arg, dy in zip(kernel.outputs, self.native.jvp(inputs, tangents), strict=True):
                tensor(arg, True).copy_(dy)


class Stream:
    """A stream that is none."""

    cuda_stream = 0


@pytest.mark.parametrize("name", ["pointwise", "block_reduce", "in_place", "neighbours", "gather", "soft_histogram"])
def test_the_call_of_a_gpu_gives_every_slot_its_memory(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Allocation, order of the slots, shadows and the check are those of a GPU; only the launch is the CPU's."""
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: Stream())
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    f, case = opened(name)
    native = CpuInItsPlace(f._native)
    kernel = cuda.Kernel(native, "once")  # type: ignore[arg-type]
    inputs = inputs_of(case)
    plain = [kernel.args[i]["passing"] == "value" and not kernel.dtypes[i].is_floating_point for i in kernel.inputs]
    given = [int(x) if p else x for x, p in zip(inputs, plain, strict=True)]
    before = [x.detach().clone() for x in inputs]
    outputs = cuda._OnGpu.apply(kernel, *given)
    expected = f(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    assert all(torch.equal(a, b) for a, b in zip(outputs, expected, strict=True))
    wanted = [x for x in inputs if x.requires_grad]
    seeds = [torch.randn_like(y) for y in outputs]
    ours = torch.autograd.grad(outputs, wanted, seeds)
    theirs = torch.autograd.grad(expected, wanted, seeds)
    assert all(torch.allclose(a, b, rtol=1e-12, atol=1e-12) for a, b in zip(ours, theirs, strict=True))
    check = ["jvp", "vjp", "primal", "primal"]
    assert native.launched == ["primal", *check, "vjp"], (
        "the check is one of each and a difference, at the first gradient"
    )
    assert all(torch.equal(a, b) for a, b in zip(before, inputs, strict=True))


def test_a_gradient_that_disagrees_with_the_forward_mode_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on the CPU."""
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: Stream())
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    f, case = opened("gather")

    class Racing(CpuInItsPlace):
        def launch(self, entry: str, mask: int, target: Any, shapes: list[list[int]], slots: list[int]) -> None:
            super().launch(entry, mask, target, shapes, slots)
            if entry == "vjp":
                memory = (ctypes.c_double * 1).from_address(slots[self.native.slots(entry, mask).index((0, True))])
                memory[0] += 1.0

    x, index = inputs_of(case)
    y = cuda._OnGpu.apply(cuda.Kernel(Racing(f._native), "once"), x, index)  # type: ignore[arg-type]
    with pytest.raises(DifferentiationError, match="on the GPU is wrong"):
        y[0].sum().backward()


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return ``on_cpu(name, broken=frozenset())``: a kernel whose launches are the CPU's; the broken entry points give zeros."""
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: Stream())
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)

    class Broken(CpuInItsPlace):
        broken: frozenset[str] = frozenset()

        def launch(self, entry: str, mask: int, target: Any, shapes: list[list[int]], slots: list[int]) -> None:
            if entry in self.broken:
                self.launched.append(entry)
                return
            super().launch(entry, mask, target, shapes, slots)

    def on_cpu(name: str, broken: frozenset[str] = frozenset(), verify: str = "once") -> Any:
        f, case = opened(name)
        native = Broken(f._native)
        native.broken = broken
        return cuda.Kernel(native, verify), inputs_of(case)  # type: ignore[arg-type]

    return on_cpu


def test_both_modes_wrong_alike_on_a_gpu_are_seen_by_differences(on_cpu: Callable[..., Any]) -> None:
    """Two zeros are equal; the function says otherwise."""
    kernel, (x, index) = on_cpu("gather", frozenset({"jvp", "vjp"}))
    y = cuda._OnGpu.apply(kernel, x, index)
    with pytest.raises(DifferentiationError, match="finite differences give") as error:
        y[0].sum().backward()
    assert error.value.code == "unproven-gradient"


def test_the_forward_mode_on_a_gpu_is_checked_too(on_cpu: Callable[..., Any]) -> None:
    """Before the first tangent is returned."""
    kernel, (x, index) = on_cpu("gather", frozenset({"jvp"}))
    with (
        torch.autograd.forward_ad.dual_level(),
        pytest.raises(DifferentiationError, match="forward and reverse mode disagree"),
    ):
        dual = torch.autograd.forward_ad.make_dual(x.detach(), torch.randn_like(x))
        cuda._OnGpu.apply(kernel, dual, index)


def test_an_unproven_gradient_is_refused_in_a_capture(
    on_cpu: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check would wait; what was proven before is used."""
    kernel, (x, index) = on_cpu("gather")
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    with pytest.raises(DifferentiationError, match="once before the capture") as error:
        cuda._OnGpu.apply(kernel, x, index)[0].sum().backward()
    assert error.value.code == "unproven-in-capture"
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    cuda._OnGpu.apply(kernel, x, index)[0].sum().backward()
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    before = list(kernel.native.launched)
    cuda._OnGpu.apply(kernel, x, index)[0].sum().backward()
    assert kernel.native.launched[len(before) :] == ["primal", "vjp"]


def test_memory_that_is_not_there_is_a_device_error_with_what_is_needed(
    on_cpu: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays and what a derivative keeps, apart."""
    kernel, inputs = on_cpu("gather")

    def refuse(*_: Any, **__: Any) -> Any:
        raise torch.cuda.OutOfMemoryError("no")

    monkeypatch.setattr(torch, "empty", refuse)
    with pytest.raises(DeviceError, match=r"derivative \(vjp\) of `.*` need .* MiB on the GPU") as error:
        kernel.run("vjp", 1, tuple(x.detach() for x in inputs), {})
    assert error.value.code == "out-of-memory" and "memory for what the derivative keeps 1.0 MiB" in str(error.value)


# --- PTX ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_kernel_and_its_derivatives_assemble_for_sm_90(case: Case) -> None:
    """ptxas, which runs in the build, accepts the code and tells what it needs."""
    text, needs = ptx_of(case.name.removeprefix("cuda_"), "primal", "vjp", "jvp")
    assert {f".entry ffgrad_{e}(" in text for e in ("primal", "vjp", "jvp")} == {True}
    assert any("registers" in line for line in needs)
    assert ".target sm_80\n" in text, "not compiled for a debugger"


def additions(ptx: str) -> str:
    """Return the instructions with which PTX adds to memory that other threads add to, counted."""
    found = collections.Counter(re.findall(r"\b((?:atom|red)\.\S+)\s", ptx))
    return "".join(f"{count:3} {name}\n" for name, count in sorted(found.items())) or "  none\n"


@pytest.mark.parametrize("name", ["gather", "block_reduce", "fem_apply"])
def test_shadows_are_added_up_by_atomics_where_threads_share_them(name: str) -> None:
    """gather: global memory that several threads read; block_reduce: shared memory; fem_apply: a thread's own array."""
    text, _ = ptx_of(name, "vjp")
    golden = GOLDENS / f"{name}.txt"
    if os.environ.get("FFGRAD_UPDATE_GOLDENS"):
        golden.write_text(additions(text))
    assert additions(text) == golden.read_text()


def test_a_gradient_that_needs_more_shared_memory_than_there_is_is_refused(tmp_path: Path) -> None:
    """With what to do about it."""
    source = tmp_path / "large.cu"
    source.write_text(
        """__global__ void large(const double *x, double *y) {
             __shared__ double s[4096];
             s[threadIdx.x] = x[threadIdx.x];
             __syncthreads();
             y[threadIdx.x] = s[(threadIdx.x + 1) % 32] * s[threadIdx.x];
           }"""
    )
    f = enzyme(source, "large", "x[n] -> y[n]", grid=1, block=32)
    ptx_of("gather", "vjp")
    with pytest.raises(DeviceError, match="twice as much"):
        f._native.ptx(["vjp"], 1, "sm_80")


# --- on a GPU -------------------------------------------------------------------------------------------------------


@on_gpu
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_kernel_on_the_gpu_agrees_with_the_cpu(case: Case) -> None:
    """Values, gradients twice (no race), forward mode; and the check against the forward mode, which runs by itself."""
    f = enzyme(case.source, case.function, case.signature, **case.options)
    here, there = inputs_of(case), inputs_of(case, "cuda")
    there = [int(x) if not x.is_floating_point() and x.ndim == 0 else x for x in there]  # type: ignore[misc]
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if case.dtype == "float32" else {"rtol": 1e-10, "atol": 1e-12}
    ours, theirs = (y if isinstance(y, tuple) else (y,) for y in (f(*there), f(*here)))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a.cpu(), b, **tolerance)
    seeds = [torch.randn_like(y) for y in theirs]
    wanted = [i for i, x in enumerate(here) if x.requires_grad]
    expected = torch.autograd.grad(theirs, [here[i] for i in wanted], seeds)
    for _ in range(2):
        got = torch.autograd.grad(ours, [there[i] for i in wanted], [s.cuda() for s in seeds], retain_graph=True)
        for a, b in zip(got, expected, strict=True):
            torch.testing.assert_close(a.cpu(), b, **tolerance)


@on_gpu
def test_a_call_can_be_captured_in_a_cuda_graph() -> None:
    """Nothing synchronises, and the stream is PyTorch's current one."""
    f, _ = opened("pointwise")
    x = torch.randn(1000, dtype=torch.double, device="cuda")
    f(x, x, 1.5)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = f(x, x, 1.5)
    x.fill_(0.5)
    graph.replay()
    torch.testing.assert_close(y, f(x, x, 1.5))


@on_gpu
def test_tensors_on_cpu_and_gpu_together_are_refused() -> None:
    """With both places."""
    f, _ = opened("pointwise")
    x = torch.randn(5, dtype=torch.double)
    with pytest.raises(DeviceError, match="different devices"):
        f(x.cuda(), x, 1.0)


def test_nvidia_smi_and_torch_agree_on_whether_there_is_a_gpu() -> None:
    """So that the tests above are not skipped by mistake."""
    if shutil.which("nvidia-smi") is None:
        pytest.skip("there is no nvidia-smi")
    assert torch.cuda.is_available()


def test_the_benchmark_runs_on_the_cpu() -> None:
    """So that it is ready for the first GPU."""
    script = HERE.parents[1] / "benches/cuda_kernels.py"
    command = [sys.executable, str(script), "--device", "cpu", "--rounds", "1", "--scale", "8"]
    child = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert child.returncode == 0, child.stderr
    assert "particle forces" in child.stdout
