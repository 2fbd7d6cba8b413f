"""CUDA kernels from ``ffgrad.numpy`` on another library's arrays, by DLPack, on a driver made for tests."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import ffgrad
import numpy as np
import pytest
from fake_driver import DeviceArray, Driver
from ffgrad.errors import DeviceError, DifferentiationError, DtypeError, OutOfMemoryError, ShapeError
from ffgrad.numpy import Enzyme, enzyme
from support.cuda_cases import KERNELS, opened, ptx_of


@pytest.fixture(autouse=True)
def _tools() -> None:
    ptx_of("gather", "primal")


def through(name: str, driver: Driver) -> tuple[Enzyme, list[Any]]:
    """Open a case for NumPy; its launches go through the driver."""
    _, case = opened(name)
    f = enzyme(case.source, case.function, case.signature, **case.options)
    assert f._gpu is not None
    f._gpu[0].native = driver.runs(f._native)
    # What allocates takes the native function itself.
    return f, list(case.make_inputs())


@pytest.fixture
def pointwise(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> tuple[Enzyme, list[Any]]:
    """out = x + sin(y) exp(-x x) + ..."""
    return through("pointwise", driver)


def moved(values: list[Any], **how: Any) -> list[Any]:
    """Return the arrays on the device; numbers stay."""
    return [DeviceArray(v, **how) if np.ndim(v) else v.item() for v in values]


def test_inputs_are_taken_in_place_and_results_are_the_same_librarys(
    driver: Driver, pointwise: tuple[Enzyme, list[Any]]
) -> None:
    """Each is asked for our stream, and the library's stream waits for ours."""
    f, values = pointwise
    expected = f(*values)
    inputs = moved(values)
    orders = driver.count("orders")
    y = f(*inputs)
    assert isinstance(y, DeviceArray)
    np.testing.assert_allclose(y.host, expected, rtol=1e-14)
    assert inputs[0].streams == [1] and y.streams == [77]
    assert driver.count("orders") == orders + 1
    addresses = driver.launches[-1][5]
    assert addresses[0] == inputs[0].host.ctypes.data, "no copy"


def test_gradients_are_checked_once_and_are_the_cpus(driver: Driver, pointwise: tuple[Enzyme, list[Any]]) -> None:
    """vjp, jvp and second derivatives."""
    f, values = pointwise
    inputs = moved(values)
    v, t = np.random.randn(2, *values[0].shape)
    _, pull = f.vjp(*values)
    _, pull_there = f.vjp(*inputs)
    for ours, theirs in zip(pull_there(DeviceArray(v)), pull(v), strict=True):
        np.testing.assert_allclose(ours.host, theirs, rtol=1e-12)
    before = len(driver.launches)
    pull_there(DeviceArray(v))
    assert [entry for entry, *_ in driver.launches[before:]] == ["ffgrad_vjp"], "checked before"
    _, ours = f.jvp(inputs, (DeviceArray(t), None, None))
    np.testing.assert_allclose(ours.host, f.jvp(values, (t, None, None))[1], rtol=1e-12)
    ours = f.hvp(inputs, (DeviceArray(t), None, None), DeviceArray(v))
    for a, b in zip(ours, f.hvp(values, (t, None, None), v), strict=True):
        np.testing.assert_allclose(a.host, b, rtol=1e-10, atol=1e-12)


def test_the_gradient_of_one_number_needs_no_cotangent(driver: Driver) -> None:
    """As SciPy's optimisers call it."""
    f, (x,) = through("block_reduce", driver)
    if not f._is_one_number:
        pytest.skip("its output has dimensions")
    value, gradient = f.value_and_grad(DeviceArray(x))
    expected = f.value_and_grad(x)
    np.testing.assert_allclose(value.host, expected[0])
    np.testing.assert_allclose(gradient.host, expected[1])


def test_what_is_updated_in_place_is_a_copy(driver: Driver) -> None:
    """The user's array is never written."""
    f, values = through("in_place", driver)
    inputs = moved(values)
    before = [x.host.copy() for x in inputs if isinstance(x, DeviceArray)]
    y = f(*inputs)
    np.testing.assert_allclose((y[0] if isinstance(y, tuple) else y).host, np.asarray(_first(f(*values))))
    for a, b in zip([x for x in inputs if isinstance(x, DeviceArray)], before, strict=True):
        np.testing.assert_array_equal(a.host, b)


def _first(y: Any) -> Any:
    return y[0] if isinstance(y, tuple) else y


def test_memory_is_given_back_when_the_results_are_gone(driver: Driver, pointwise: tuple[Enzyme, list[Any]]) -> None:
    """Results live as long as their consumers; unconsumed capsules free theirs."""
    f, values = pointwise
    inputs = moved(values)
    pull = f.vjp(*inputs)[1]
    pull(DeviceArray(np.ones_like(values[0])))
    gc.collect()
    before = driver.count("live")
    for _ in range(5):
        pull(DeviceArray(np.ones_like(values[0])))
        f(*inputs)
    gc.collect()
    assert driver.count("live") == before


def test_producers_from_before_dlpack_1_are_taken(pointwise: tuple[Enzyme, list[Any]]) -> None:
    """They know no version."""
    f, values = pointwise
    np.testing.assert_allclose(f(*moved(values, legacy=True)).host, f(*values))


def test_the_stream_of_cupy_is_its_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others' arrays are ready on the legacy default stream."""
    import sys
    import types

    from ffgrad import _device

    cupy = types.ModuleType("cupy")
    stream = types.SimpleNamespace(ptr=4711)
    cupy.cuda = types.SimpleNamespace(get_current_stream=lambda: stream)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    array = type("ndarray", (), {"__module__": "cupy"})()
    assert _device._current_stream(array) == (4711, True)
    stream.ptr = 0
    assert _device._current_stream(array) == (1, True)
    assert _device._current_stream(DeviceArray(np.ones(2))) == (1, False)


def test_a_library_that_does_not_order_its_memory_by_our_stream_is_waited_for(
    driver: Driver, pointwise: tuple[Enzyme, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CuPy's is not."""
    from ffgrad import _device

    f, values = pointwise
    waits = driver.count("waits")
    f(*moved(values))
    assert driver.count("waits") == waits + 1
    monkeypatch.setattr(_device, "_current_stream", lambda _: (4711, True))
    y = f(*moved(values))
    assert driver.count("waits") == waits + 1 and driver.launches[-1][4] == 4711 and y.streams == [77]


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_arrays_elsewhere_are_refused_by_name(pointwise: tuple[Enzyme, list[Any]]) -> None:
    """On the CPU, or on another GPU."""
    f, values = pointwise
    with pytest.raises(DeviceError, match="`y` on cuda:0") as error:
        f(DeviceArray(values[0]), values[1], 1.0)
    assert error.value.code == "mixed-devices"
    with pytest.raises(DeviceError, match="found    cuda:1"):
        f(DeviceArray(values[0]), DeviceArray(values[1], device=1), 1.0)


def test_types_shapes_and_strides_are_checked(pointwise: tuple[Enzyme, list[Any]]) -> None:
    """Before anything is launched."""
    f, values = pointwise
    x, y = values[:2]
    with pytest.raises(DtypeError, match="`y` of `pointwise`: expected float64, found float32"):
        f(DeviceArray(x), DeviceArray(y.astype(np.float32)), 1.0)
    with pytest.raises(ShapeError):
        f(DeviceArray(x), DeviceArray(y[:-1]), 1.0)
    with pytest.raises(DeviceError, match="is not row-major"):
        f(DeviceArray(np.repeat(x, 2)[::2]), DeviceArray(y), 1.0)
    with pytest.raises(ShapeError, match="the tangent of x"):
        f.jvp((DeviceArray(x), DeviceArray(y), 1.0), (DeviceArray(x[:-1]), None, None))


def test_a_wrong_gradient_is_never_returned(driver: Driver, pointwise: tuple[Enzyme, list[Any]]) -> None:
    """The check is the same as for tensors."""
    f, values = pointwise
    driver.native.broken = frozenset({"vjp"})
    original = driver.native.element

    def element(entry: str, *rest: Any) -> None:
        if entry != "vjp":
            original(entry, *rest)

    driver.native.element = element
    _, pull = f.vjp(*moved(values))
    with pytest.raises(DifferentiationError, match="on the GPU is wrong") as error:
        pull(DeviceArray(np.ones_like(values[0])))
    assert error.value.line == f.manifest["prototype"]["line"]


def test_jacobians_and_batches_stay_on_the_cpu(pointwise: tuple[Enzyme, list[Any]]) -> None:
    """With what to do instead."""
    f, values = pointwise
    with pytest.raises(DeviceError, match="Jacobians of `pointwise`"):
        f.jacobian(*moved(values))
    g = enzyme(KERNELS / "pointwise.cu", "pointwise", "x[...,n], y[...,n], a -> out[...,n]")
    with pytest.raises(DeviceError, match="ffgrad.torch"):
        g(*moved(values))


def test_a_c_function_refuses_arrays_on_a_gpu() -> None:
    """It is compiled for the CPU."""
    from support.loader import FOLDER

    f = enzyme(FOLDER / "signatures/classic.c", "f")
    with pytest.raises(DeviceError, match="runs on the CPU"):
        f(DeviceArray(np.ones(3)))


def test_memory_that_is_not_there_is_an_error_of_its_own(driver: Driver, pointwise: tuple[Enzyme, list[Any]]) -> None:
    """With the kernel's line."""
    f, values = pointwise
    driver.fail("cuMemAllocAsync", 2)
    with pytest.raises(OutOfMemoryError, match="out of memory") as error:
        f(*moved(values))
    assert error.value.code == "out-of-memory" and error.value.line == f.manifest["prototype"]["line"]


def test_a_pack_serves_a_gradient_by_one_input_from_the_code_for_all(driver: Driver, tmp_path: Path) -> None:
    """The same numbers as from the source."""
    f, values = through("pointwise", driver)
    ffgrad.export(tmp_path / "k.ffpack", f)
    packed = enzyme(tmp_path / "k.ffpack", f.manifest["prototype"]["function"])
    assert packed._gpu is not None
    packed._gpu[0].native = driver.runs(packed._native)
    for argnum in (0, 1):
        gradients = packed.vjp(*moved(values))[1](DeviceArray(np.ones_like(values[0])))
        alone = packed._for(tuple(moved(values))).vjp(
            moved(values), [DeviceArray(np.ones_like(values[0]))], 1 << argnum
        )
        expected = f.vjp(*values)[1](np.ones_like(values[0]))
        np.testing.assert_allclose(alone[argnum].host, expected[argnum], rtol=1e-12)
        np.testing.assert_allclose(gradients[argnum].host, expected[argnum], rtol=1e-12)
