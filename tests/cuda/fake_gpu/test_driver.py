"""ffgrad's half of a GPU: devices, contexts, code, parameters, batches, and every refusal, on a driver made for tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ffgrad
import pytest
import torch
from fake_driver import Driver
from ffgrad._torch import cuda
from ffgrad.errors import DeviceError, Error, OutOfMemoryError, PackError
from ffgrad.torch import Enzyme, enzyme
from support.cuda_cases import inputs_of, opened, ptx_of
from torch.func import grad, vmap


@pytest.fixture(autouse=True)
def _tools() -> None:
    ptx_of("gather", "primal")


@pytest.fixture
def through(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return ``through(f)``: CUDA's operators stand in for the CPU's, and their launches go through the driver."""
    monkeypatch.setattr(cuda, "_stream", lambda _: 0)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    library = torch.library.Library("ffgrad", "IMPL")  # type: ignore[no-untyped-call]
    for name, operator in cuda.OPERATORS.items():
        library.impl(name, operator, "CPU")

    def through(f: Enzyme, lanes: int = 1, verify: str = "once") -> Driver:
        kernel = cuda.Kernel(driver.runs(f._native, lanes), verify)  # type: ignore[arg-type]
        monkeypatch.setitem(cuda._KERNELS, f._spec, kernel)
        return driver

    yield through
    library._destroy()  # type: ignore[no-untyped-call]


def launch(f: Enzyme, device: int = 0, stream: int = 0) -> None:
    """Launch the primal of ``pointwise`` on nothing."""
    memory = torch.zeros(5, dtype=torch.double)
    at = memory.data_ptr()
    f._native.launch("primal", 0, (device, stream, 0, 0), [[5], [5], []], [at, at, at, at, 0])


def fresh(tmp_path: Path, **options: Any) -> Enzyme:
    """Return a kernel that is not loaded yet."""
    source = tmp_path / "fresh.cu"
    source.write_text("\n__global__ void fresh(const double *x, double *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }\n")
    return enzyme(source, "fresh", "x[n] -> y[n]", **options)


def launch_fresh(f: Enzyme, entry: str = "primal", n: int = 5) -> None:
    """Launch it on the CPU's memory."""
    at = torch.zeros(n, dtype=torch.double).data_ptr()
    count = len(f._native.slots(entry, 1))
    f._native.launch(entry, 1 if entry != "primal" else 0, (0, 0, 0, 0), [[n]], [at] * count)


@pytest.mark.parametrize("name", ["pointwise", "in_place", "gather", "block_reduce", "fem_apply"])
def test_values_and_gradients_arrive_through_the_drivers_parameters(name: str, through: Any) -> None:
    """Each slot has an offset, and the pool follows them."""
    f, case = opened(name)
    inputs = inputs_of(case)
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    expected = torch.autograd.grad(sum((y * y).sum() for y in listed(f(*inputs))), wanted)
    driver = through(f)
    ours = torch.autograd.grad(sum((y * y).sum() for y in listed(f._dispatch(inputs))), wanted)
    driver.reset()
    for a, b in zip(ours, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)
    launched = [entry for entry, *_ in driver.launches if entry == "ffgrad_vjp"]
    assert len(launched) == 2, "once for the check"
    pools = [values[0] for entry, *_, values in driver.launches if entry == "ffgrad_reset"]
    assert all(pools)


def listed(outputs: Any) -> tuple[Any, ...]:
    """Return the outputs as a tuple."""
    return outputs if isinstance(outputs, tuple) else (outputs,)


def test_a_batch_is_as_many_grids_along_z_in_as_few_launches_as_the_device_allows(through: Any) -> None:
    """The driver of the tests has 16 blocks along z."""
    f, case = opened("pointwise")
    x, y, a = (v.detach() for v in inputs_of(case))
    xs = torch.randn(37, *x.shape, dtype=torch.double)
    expected = torch.stack([f(v, y, a) for v in xs])
    driver = through(f)
    ours = vmap(lambda v: f._dispatch((v, y, a)))(xs)
    driver.reset()
    torch.testing.assert_close(ours, expected)
    grids = [grid for entry, _, grid, *_ in driver.launches if entry == "ffgrad_primal"]
    assert [g[2] for g in grids] == [16, 16, 5]


def test_a_batch_of_a_kernel_with_blocks_along_z_keeps_them_together(through: Any, tmp_path: Path) -> None:
    """Three an element, so five elements in a launch; gradients too."""
    source = tmp_path / "layers.cu"
    source.write_text(
        "__global__ void layers(const double *x, double *y, int n) {\n"
        "  int i = blockIdx.z * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i] * x[i] * gridDim.z;\n}\n"
    )
    f = enzyme(source, "layers", "x[n] -> y[n]", grid=[1, 1, 3], block=4)
    xs = torch.randn(7, 10, dtype=torch.double)
    driver = through(f, lanes=3)
    ours = vmap(grad(lambda v: f._dispatch((v,)).sum()))(xs)
    driver.reset()
    torch.testing.assert_close(ours, 6 * xs)
    grids = [grid for entry, _, grid, *_ in driver.launches if entry == "ffgrad_vjp"]
    assert {g[2] for g in grids} == {15, 6}


def test_code_is_loaded_once_for_a_device_and_the_context_is_the_primary_one(driver: Driver, tmp_path: Path) -> None:
    """And the one that was current before is so again."""
    f = fresh(tmp_path, grid=1, block="n")
    before = driver.count("loads")
    driver.library.fake_make_current(1)
    for _ in range(3):
        launch_fresh(f)
    assert driver.count("loads") == before + 1 and driver.library.fake_current() == 1
    at = torch.zeros(5, dtype=torch.double).data_ptr()
    f._native.launch("primal", 0, (1, 42, 0, 0), [[5]], [at, at])
    assert driver.count("loads") == before + 2 and driver.count("retained") <= 2
    assert driver.launches[-1][1] == 1 and driver.launches[-1][4] == 42, "on that device, on that stream"


# --- refusals: each with the kernel's line ------------------------------------------------------------------------------


def refusal(f: Enzyme, **how: Any) -> Error:
    """Launch and return the error."""
    with pytest.raises((DeviceError, OutOfMemoryError)) as error:
        launch_fresh(f, **how)
    assert error.value.function == "fresh" and error.value.line == 2 and str(error.value.file).endswith("fresh.cu")
    assert "fresh.cu:2  |  __global__ void fresh" in str(error.value)
    return error.value


def test_a_driver_older_than_the_code_is_refused(driver: Driver, tmp_path: Path) -> None:
    """Before anything is loaded."""
    f = fresh(tmp_path, grid=1, block="n")
    launch_fresh(f)  # opens the device, which is asked once
    error = explained("driver-version", driver, tmp_path)
    assert "PTX 7.5" in error and "CUDA 11.2" in error


def explained(code: str, driver: Driver, tmp_path: Path) -> str:
    """Return what a process says whose driver is of CUDA 11.2."""
    import subprocess
    import sys

    script = f"""
import sys
sys.path[:0] = {sys.path!r}
import ctypes
library = ctypes.CDLL({driver.library._name!r}, mode=ctypes.RTLD_GLOBAL)
library.fake_set(b"driver_version", 11020)
from ffgrad.torch import enzyme
from ffgrad.errors import DeviceError, PackError
f = enzyme({str(tmp_path / "fresh.cu")!r}, "fresh", "x[n] -> y[n]", grid=1, block="n")
try:
    f._native.launch("primal", 0, (0, 0, 0, 0), [[5]], [0, 0])
except DeviceError as error:
    print(error.code, error)
"""
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert child.stdout.startswith(code), child.stdout + child.stderr
    return child.stdout


def test_a_device_that_is_not_there_is_refused(driver: Driver) -> None:
    """With how many there are."""
    f, _ = opened("pointwise")
    with pytest.raises(DeviceError, match="GPU 5, but the NVIDIA driver finds only 2") as error:
        launch(f, device=5)
    assert error.value.code == "no-device"


@pytest.mark.parametrize(
    ("number", "code", "where"),
    [
        (2, "out-of-memory", "cuModuleLoadData"),
        (209, "architecture", "cuModuleLoadData"),
        (218, "driver-version", "cuModuleLoadData"),
        (222, "driver-version", "cuModuleLoadData"),
        (701, "launch-resources", "cuLaunchKernel"),
        (700, "illegal-address", "cuLaunchKernel"),
        (719, "kernel-failed", "cuLaunchKernel"),
        (999, "cuda", "cuLaunchKernel"),
    ],
)
def test_what_the_driver_refuses_becomes_a_code(
    driver: Driver, tmp_path: Path, number: int, code: str, where: str
) -> None:
    """With the driver's words."""
    f = fresh(tmp_path, grid=1, block="n")
    driver.fail(where, number)
    error = refusal(f)
    assert error.code == code and error.hints or code == "cuda"
    assert isinstance(error, MemoryError) == (code == "out-of-memory")


def test_a_block_that_a_derivative_cannot_have_is_refused_before_it_is_launched(driver: Driver, tmp_path: Path) -> None:
    """With the registers."""
    f = fresh(tmp_path, grid=1, block="n")
    driver.set(threads_per_block=256)
    before = len(driver.launches)
    error = refusal(f, entry="vjp", n=300)
    assert error.code == "launch-resources" and error.found == "300 threads"
    assert error.expected == "at most 256 threads in a block, with 256 registers each"
    assert "its gradient needs too many registers" in str(error)
    assert not [entry for entry, *_ in driver.launches[before:] if entry != "ffgrad_reset"]


def test_a_derivative_that_found_its_pool_full_is_launched_again_with_a_larger_one(through: Any) -> None:
    """Twice; the size is kept for calls of the same shapes, and what a captured graph may find full is an error."""
    f, case = opened("matmul")
    inputs = inputs_of(case)
    driver = through(f)
    driver.needs_bytes = 5 << 20
    for _ in range(2):
        f._dispatch(inputs).sum().backward()
    resets = [values[1:] for entry, *_, values in driver.launches if entry == "ffgrad_reset"]
    sizes = [size >> 20 for size, _ in resets]
    assert sizes[:2] == [1, 10] and set(sizes) == {1, 6, 10} and sizes[-2:] == [6, 6], sizes
    assert all(strict == 0 for _, strict in resets)
    driver.set(capturing=1)
    f._dispatch(inputs)
    kernel = cuda._KERNELS[f._spec]
    assert kernel.launched("vjp", 3, kernel.native.shapes([[2, 3], [3, 2]]), 1, lambda size: (size, None)) == 1 << 20


def test_code_that_is_not_loaded_is_refused_in_a_capture(driver: Driver, tmp_path: Path) -> None:
    """What is loaded is launched."""
    f = fresh(tmp_path, grid=1, block="n")
    driver.set(capturing=1)
    assert refusal(f).code == "capture"
    driver.set(capturing=0)
    launch_fresh(f)
    driver.set(capturing=1)
    waits = driver.count("waits")
    launch_fresh(f)
    assert driver.count("waits") == waits, "nothing waits"
    assert refusal(f, entry="vjp").code == "capture"


# --- packs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pointwise", "in_place", "block_reduce"])
def test_a_pack_has_the_code_for_gpus_and_serves_fewer_inputs(name: str, through: Any, tmp_path: Path) -> None:
    """Gradients by each input alone come from the code for all, checked at the first call; a batch too."""
    f, case = opened(name)
    index = ffgrad.export(tmp_path / "k.zip", f)
    assert {kernel["arch"] for kernel in index["functions"][case.function]["gpu"]["kernels"]} == {"sm_60"}
    packed = enzyme(tmp_path / "k.zip", case.function)
    inputs = inputs_of(case)
    floating = [i for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.requires_grad]
    for i in [None, *floating]:
        given = [x.detach() if isinstance(x, torch.Tensor) else x for x in inputs]
        wanted = [given[k].requires_grad_() for k in (floating if i is None else [i])]
        expected = torch.autograd.grad(sum((y * y).sum() for y in listed(f(*given))), wanted)
        driver = through(packed)
        ours = torch.autograd.grad(sum((y * y).sum() for y in listed(packed._dispatch(tuple(given)))), wanted)
        driver.reset()
        for a, b in zip(ours, expected, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)
    launched = [entry for entry, *_ in driver.launches if entry == "ffgrad_vjp"]
    assert len(launched) >= 2, "once for the check"


def test_a_batch_and_second_derivatives_come_from_a_pack(through: Any, tmp_path: Path) -> None:
    """What was not packed is refused with the command that adds it."""
    f, case = opened("pointwise")
    ffgrad.export(tmp_path / "k.ffpack", f, "second")
    packed = enzyme(tmp_path / "k.ffpack", case.function)
    x, y, a = (v.detach() for v in inputs_of(case))
    xs = torch.randn(3, *x.shape, dtype=torch.double)
    # The operators of the CPU are the GPU's here: nothing but the formula is left to compare with.
    bell = torch.sin(y) * torch.exp(-xs * xs)
    driver = through(packed)
    hessian = torch.func.hessian(lambda v: packed._dispatch((v, y, a)).sum())(xs[0])
    mapped = vmap(grad(lambda v: packed._dispatch((v, y, a)).sum()))(xs)
    with pytest.raises(PackError, match="has no code for a GPU .*: second derivatives forward over forward") as error:
        along = torch.ones_like(x)
        torch.func.jvp(lambda v: torch.func.jvp(lambda w: packed._dispatch((w, y, a)), (v,), (x,))[1], (x,), (along,))
    driver.reset()
    torch.testing.assert_close(hessian, torch.diag(bell[0] * (4 * xs[0] ** 2 - 2)))
    torch.testing.assert_close(mapped, a - 2 * xs * bell)
    assert error.value.code == "pack-lacks" and "--derivatives=forward --gpu=sm_80" in error.value.hints[-1]


def test_a_pack_without_code_for_gpus_says_so(driver: Driver, tmp_path: Path) -> None:
    """Where none was asked for, and where there could be none; the CPU as a device is served."""
    f = fresh(tmp_path, grid=1, block="n")
    ffgrad.export(tmp_path / "none.ffpack", f, gpu=[])
    sized = fresh(tmp_path, grid=1, block="n", shared="8*n")
    index = ffgrad.export(tmp_path / "sized.ffpack", sized)
    assert "must be a number" in index["functions"]["fresh"]["gpu"]["missing"]
    with pytest.raises(DeviceError, match="must be a number"):
        ffgrad.export(tmp_path / "sized.ffpack", sized, gpu="sm_80")
    packed = enzyme(tmp_path / "none.ffpack", "fresh")
    assert packed.apply(torch.ones(3, dtype=torch.double)).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(PackError, match="has no code for a GPU .*: values of `fresh`") as error:
        launch_fresh(packed)
    assert error.value.code == "pack-lacks"
