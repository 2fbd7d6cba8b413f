"""CUDA kernels beyond the conformance table, on the CPU as a device: launches, threads, second derivatives, refusals.

Neighbours: ``test_cuda_ptx.py`` (code for GPUs), ``test_cuda_calls.py`` (how calls reach a GPU), ``test_cuda_gpu.py`` (on one).
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from ffgrad.errors import CompileError, DeviceError, DifferentiationError
from ffgrad.torch import enzyme
from support.cuda_cases import KERNELS, TEMPLATES, inputs_of, opened
from support.loader import FOLDER
from torch.autograd import gradcheck

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
        enzyme(FOLDER / "signatures/classic.c", "f", grid=1)


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
    """And offers the CPU, with the kernel's line."""
    f, case = opened("pointwise")
    if torch.cuda.is_available():
        pytest.skip("there is a driver")
    with pytest.raises(DeviceError, match="NVIDIA driver") as error:
        f._native.launch("primal", 0, (0, 0, 0, 0), [[5], [5], []], [0, 0, 0, 0, 0])
    assert error.value.code == "no-driver" and error.value.line == f.manifest["prototype"]["line"]


def test_a_launch_that_is_refused_names_the_kernels_line() -> None:
    """Where the block follows from the dimensions of a call."""
    f, _ = opened("pointwise", block="n")
    x = torch.ones(2000, dtype=torch.double)
    with pytest.raises(DeviceError, match="2000 x 1 x 1") as error:
        f(x, x, 1.0)
    assert error.value.code == "launch" and error.value.line == f.manifest["prototype"]["line"]


def test_the_benchmark_runs_on_the_cpu() -> None:
    """So that it is ready for the first GPU."""
    script = FOLDER.parents[1] / "benches/cuda_kernels.py"
    command = [sys.executable, str(script), "--device", "cpu", "--rounds", "1", "--scale", "8"]
    child = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert child.returncode == 0, child.stderr
    assert "particle forces" in child.stdout
