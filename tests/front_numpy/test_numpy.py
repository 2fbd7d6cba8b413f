"""The NumPy front end: derivatives against closed forms, copies, refusals, SciPy's optimisers."""

from __future__ import annotations

import array
import ctypes
from typing import Any, ClassVar

import ffgrad
import numpy as np
import pytest
import scipy.optimize
import torch
from ffgrad.errors import DeviceError
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import RunPython, Write
from support.programs import CUBE, DECAY, DECAY_SIGNATURE, PAIR, PAIR_SIGNATURE, STEP, STEP_SIGNATURE

ROSENBROCK = """\
double rosenbrock(const double* x, int n) {
  double sum = 0;
  for (int i = 0; i + 1 < n; i++) {
    double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
    sum += 100 * a * a + b * b;
  }
  return sum;
}
"""
# Stores the address of its input.
WHERE = """\
#include <stdint.h>
void where(const double* x, int n, double* y, unsigned long long* address) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i];
  *address = (unsigned long long)(uintptr_t)x;
}
"""


@pytest.fixture
def rosenbrock(write: Write) -> Enzyme:
    """A function of one number, with scipy.optimize.rosen as its reference."""
    return enzyme(write(ROSENBROCK), "rosenbrock", "x[n] -> return")


@pytest.fixture
def pair(write: Write) -> Enzyme:
    """(a*b, a**2 + sin(b))."""
    return enzyme(write(PAIR), "pair", PAIR_SIGNATURE)


def normal(*shape: int) -> np.ndarray:
    """Normal numbers in double precision."""
    return np.random.default_rng(0).standard_normal(shape)


# --- derivatives ------------------------------------------------------------------------------------------


def test_value_gradient_and_hessian_are_scipys(rosenbrock: Enzyme) -> None:
    """Against SciPy's closed forms of the same function."""
    x, p = normal(6), normal(6)[::-1].copy()
    value, gradient = rosenbrock.value_and_grad(x)
    assert isinstance(value, np.float64)
    np.testing.assert_allclose(value, scipy.optimize.rosen(x))
    np.testing.assert_allclose(gradient, scipy.optimize.rosen_der(x))
    np.testing.assert_allclose(rosenbrock.grad(x), scipy.optimize.rosen_der(x))
    np.testing.assert_allclose(rosenbrock.hessp(x, p), scipy.optimize.rosen_hess_prod(x, p), rtol=1e-10)
    np.testing.assert_allclose(rosenbrock.hvp(x, p), scipy.optimize.rosen_hess_prod(x, p), rtol=1e-10)
    np.testing.assert_allclose(rosenbrock.hessian(x), scipy.optimize.rosen_hess(x), rtol=1e-10, atol=1e-10)
    assert isinstance(rosenbrock(x), np.float64)


def test_the_hessian_of_several_inputs_has_a_block_for_each_pair(write: Write) -> None:
    """Of a * |x|^2 sin(b) by a number and an array, in the order that was asked for."""
    source = """\
#include <math.h>
double wave(double a, double b, const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return a * sum * sin(b);
}
"""
    f = enzyme(write(source), "wave", "a, b, x[n] -> return")
    a, b, x = 1.5, 0.7, normal(3)
    blocks = f.hessian(a, b, x, argnums=("x", 0))
    expected = ((2 * a * np.sin(b) * np.eye(3), 2 * x * np.sin(b)), (2 * x * np.sin(b), np.zeros(())))
    for row, wanted in zip(blocks, expected, strict=True):
        for block, closed in zip(row, wanted, strict=True):
            assert block.shape == np.shape(closed)
            np.testing.assert_allclose(block, closed, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(f.hessian(a, b, x, argnums="x"), expected[0][0], rtol=1e-12)
    np.testing.assert_allclose(f.hessian(a, b, x, argnums=1), -a * (x @ x) * np.sin(b), rtol=1e-12)


def test_a_pullback_gives_the_gradient_of_every_input(pair: Enzyme) -> None:
    """And takes None for an output that does not matter."""
    a, b, v = normal(4), normal(4)[::-1], normal(4)
    (product, mixed), pullback = pair.vjp(a, b)
    np.testing.assert_allclose(product, a * b)
    np.testing.assert_allclose(mixed, a * a + np.sin(b))
    da, db = pullback((v, None))
    np.testing.assert_allclose(da, v * b)
    np.testing.assert_allclose(db, v * a)
    _, db = pullback((None, v))
    np.testing.assert_allclose(db, v * np.cos(b))


def test_forward_mode_takes_tangents_of_some_inputs(pair: Enzyme) -> None:
    """The others stand still."""
    a, b, t = normal(4), normal(4)[::-1], normal(4)
    _, (product, mixed) = pair.jvp((a, b), (None, t))
    np.testing.assert_allclose(product, a * t)
    np.testing.assert_allclose(mixed, np.cos(b) * t)


@pytest.mark.parametrize("argnums", [0, (0, 1, 2), (2,)])
def test_a_jacobian_has_the_outputs_shape_and_the_inputs(write: Write, argnums: Any) -> None:
    """By rows and by columns, of several outputs and inputs, against central differences."""
    f = enzyme(write(STEP), "step", STEP_SIGNATURE)
    inputs = (normal(3), normal(3, 3), np.asarray(0.3))
    whole = f.jacobian(*inputs, argnums=argnums)
    chosen = (argnums,) if isinstance(argnums, int) else argnums
    for output in (0, 1):
        parts = (whole[output],) if isinstance(argnums, int) else whole[output]
        for part, i in zip(parts, chosen, strict=True):
            for at in np.ndindex(inputs[i].shape):

                def moved(h: float, i: int = i, at: tuple[int, ...] = at, output: int = output) -> Any:
                    changed = [x.copy() for x in inputs]
                    changed[i][at] += h
                    return f(*changed)[output]

                numerical = (moved(1e-6) - moved(-1e-6)) / 2e-6
                np.testing.assert_allclose(part[(..., *at)], numerical, rtol=1e-6, atol=1e-8)


def test_both_modes_give_the_same_jacobian(write: Write) -> None:
    """More outputs than inputs, and more inputs than outputs."""
    source = write("""\
    void outer(const double* a, const double* b, int m, int n, double* y) {
      for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) y[i * n + j] = a[i] * a[i] * b[j];
    }
    """)
    f = enzyme(source, "outer", "a[m], b[n] -> y[m,n]")
    a, b = normal(4), normal(3)
    expected = np.einsum("ik,i,j->ijk", np.eye(4), 2 * a, b)
    np.testing.assert_allclose(f.jacobian(a, b), expected)
    given = (a, b)
    outputs = f._native.primal(given, 0)
    np.testing.assert_allclose(f._rows(given, outputs, 1)[0][0], expected)


def test_second_derivatives_of_several_inputs(pair: Enzyme) -> None:
    """The outputs weighed, the tangent of one input."""
    a, b, v, t = normal(4), normal(4)[::-1], normal(4), normal(4)[::-1] + 1
    da, db = pair.hvp((a, b), (None, t), (v, v))
    np.testing.assert_allclose(da, v * t)
    np.testing.assert_allclose(db, -v * np.sin(b) * t)


def test_numbers_have_gradients_where_asked_for(write: Write) -> None:
    """A Python float takes the parameter's type; gradients of scalars are 0-d."""
    decay = enzyme(write(DECAY), "decay", DECAY_SIGNATURE)
    t = normal(5)
    jacobian = decay.jacobian(t, 2.0, 0.5, argnums=(1, 2))
    by_name = decay.jacobian(t, 2.0, 0.5, argnums=(decay.inputs[1], 2))
    assert all(np.array_equal(one, other) for one, other in zip(jacobian, by_name, strict=True))
    np.testing.assert_allclose(jacobian[0], np.exp(-0.5 * t))
    np.testing.assert_allclose(jacobian[1], -2.0 * t * np.exp(-0.5 * t))
    _, tangent = decay.jvp((t, 2.0, 0.5), (None, None, 1.0))
    np.testing.assert_allclose(tangent, jacobian[1])


def test_a_function_over_a_batch(write: Write) -> None:
    """`...` in the signature: one native loop, on two threads, and Jacobians of it."""
    f = enzyme(write(CUBE), "cube", "x[...,n] -> y[...,n]", threads=2)
    x = normal(3, 4)
    np.testing.assert_allclose(f(x), x**3)
    _, pullback = f.vjp(x)
    np.testing.assert_allclose(pullback(x)[0], 3 * x**3)
    np.testing.assert_allclose(f.jacobian(x).reshape(12, 12), np.diag(3 * x.ravel() ** 2))


# --- memory -----------------------------------------------------------------------------------------------


class Interface:
    """Nothing but ``__array_interface__``."""

    def __init__(self, x: np.ndarray) -> None:
        self.__array_interface__ = x.__array_interface__
        self.keep = x


class Unversioned:
    """DLPack from before its version 1: no keyword arguments, a capsule without a version."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x

    def __dlpack__(self) -> Any:
        return self.x.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.x.__dlpack_device__()


def read_only(x: np.ndarray) -> np.ndarray:
    """Return a read-only view."""
    view = x.view()
    view.flags.writeable = False
    return view


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x: x,
        read_only,
        lambda x: Interface(x),
        lambda x: Interface(read_only(x)),
        Unversioned,
        memoryview,
        lambda x: memoryview(x).toreadonly(),
        torch.from_numpy,
        lambda x: np.ma.asarray(x).data,
    ],
    ids=[
        "array",
        "read-only",
        "interface",
        "read-only interface",
        "unversioned",
        "buffer",
        "read-only buffer",
        "torch",
        "data",
    ],
)
def test_the_foreign_code_reads_the_arrays_own_memory(write: Write, wrap: Any) -> None:
    """Any object that exports its memory is read without a copy and never written to."""
    where = enzyme(write(WHERE), "where", "x[n] -> y[n], address[1]")
    x = normal(16)
    before, content = ffgrad.copies(), x.tobytes()
    y, address = where(wrap(x))
    assert int(address[0]) == x.ctypes.data
    np.testing.assert_allclose(y, x * x)
    assert ffgrad.copies() == before
    outputs, pullback = enzyme(write(CUBE), "cube").vjp(wrap(x))
    np.testing.assert_allclose(outputs, x**3)
    np.testing.assert_allclose(pullback(wrap(x))[0], 3 * x**3)
    assert x.tobytes() == content


def test_arrays_of_other_libraries_are_read_in_place(write: Write) -> None:
    """The standard library's, ctypes', bytes seen as numbers."""
    where = enzyme(write(WHERE), "where", "x[n] -> y[n], address[1]")
    numbers = [1.0, 2.0, 3.0]
    own, foreign = array.array("d", numbers), (ctypes.c_double * 3)(*numbers)
    for values, place in ((own, own.buffer_info()[0]), (foreign, ctypes.addressof(foreign))):
        y, address = where(values)
        assert int(address[0]) == place
        np.testing.assert_allclose(y, [1.0, 4.0, 9.0])
    np.testing.assert_allclose(where(memoryview(own.tobytes()).cast("d"))[0], [1.0, 4.0, 9.0])


def test_an_array_that_is_not_contiguous_is_copied_once(write: Write) -> None:
    """Also one that is read-only or has a negative stride."""
    cube = enzyme(write(CUBE), "cube")
    x = normal(8)
    for view in (x[::2], x[::-1][::2], read_only(x[1::2])):
        before = ffgrad.copies()["gathered"]
        np.testing.assert_allclose(cube(view), view**3)
        assert ffgrad.copies()["gathered"] - before == 4 * 8


def test_results_are_new_writable_arrays(write: Write) -> None:
    """Which belong to the caller."""
    cube = enzyme(write(CUBE), "cube")
    first, second = cube(normal(3)), cube(normal(3))
    assert first.flags.owndata and first.flags.writeable and first.flags.c_contiguous
    first[:] = 0
    np.testing.assert_allclose(second, normal(3) ** 3)


def test_numpy_needs_nothing_else(run_python: RunPython, write: Write) -> None:
    """No PyTorch, and nothing that comes with it."""
    source = write(CUBE)
    run_python(f"""
import sys
sys.modules["torch"] = sys.modules["typing_extensions"] = None
import numpy as np
from ffgrad.numpy import enzyme
f = enzyme({str(source)!r}, "cube")
(gradient,) = f.vjp(np.array([1.0, 2.0]))[1](np.ones(2))
assert gradient.tolist() == [3.0, 12.0], gradient
assert sys.modules["torch"] is None and "torch._C" not in sys.modules
""")


# --- refusals ---------------------------------------------------------------------------------------------


def test_a_wrong_element_type_is_a_dtype_error(write: Write) -> None:
    """Nothing is converted, not even a scalar with a type."""
    decay = enzyme(write(DECAY.replace("double", "float")), "decay", DECAY_SIGNATURE)
    t = normal(3).astype(np.float32)
    with pytest.raises(ffgrad.DtypeError, match="`t` of `decay`"):
        decay(normal(3), 1.0, 1.0)
    with pytest.raises(ffgrad.DtypeError, match="`rate` of `decay`"):
        decay(t, 1.0, np.float64(1.0))
    np.testing.assert_allclose(decay(t, np.float32(1.0), 1.0), np.exp(-t), rtol=1e-6)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1.0, 2.0], "`x` must be"),
        ("text", "`x` of `cube` cannot be given as a text"),
        ({}, "`x` must be"),
        (object(), "`x` must be"),
    ],
)
def test_what_is_no_array_is_a_type_error(write: Write, value: Any, words: str) -> None:
    """A list would have to be copied."""
    with pytest.raises(TypeError, match=words):
        enzyme(write(CUBE), "cube")(value)


class OnDevice:
    """What CuPy's and JAX's arrays show of themselves; the memory must not be asked for."""

    def __init__(self, kind: int) -> None:
        self.kind = kind

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's number for the kind of device, and which."""
        return self.kind, 0

    def __dlpack__(self, **_: Any) -> Any:
        """Would wait for the device."""
        raise AssertionError("a device's memory was asked for")


class OfNumba:
    """A device array without DLPack."""

    __cuda_array_interface__: ClassVar[dict[str, Any]] = {
        "shape": (3,),
        "typestr": "<f8",
        "data": (1, False),
        "version": 3,
    }


@pytest.mark.parametrize(
    ("array", "device"),
    [
        (OnDevice(2), "a CUDA device"),
        (OnDevice(13), "a CUDA device"),
        (OnDevice(10), "a ROCm device"),
        (OnDevice(99), "a device other than the CPU"),
        (OfNumba(), "a CUDA device"),
    ],
    ids=["cuda", "managed", "rocm", "other", "numba"],
)
def test_arrays_on_a_device_are_refused_by_name(pair: Enzyme, array: Any, device: str) -> None:
    """In calls and derivatives, of the right parameter."""
    first = np.ones(3)
    for call in (
        lambda: pair(first, array),
        lambda: pair.vjp(first, array),
        lambda: pair.jvp((first, array), (first, None)),
    ):
        with pytest.raises(DeviceError, match=f"`{pair.inputs[1]}` is on {device}") as error:
            call()
        assert error.value.code == "device" and error.value.found == device


def test_byte_swapped_numbers_are_refused(write: Write) -> None:
    """Foreign code would misread them."""
    with pytest.raises((BufferError, TypeError, ffgrad.DtypeError)):
        enzyme(write(CUBE), "cube")(normal(3).astype(">f8"))


def test_a_gradient_of_several_numbers_is_refused(pair: Enzyme) -> None:
    """With what to call instead."""
    with pytest.raises(ffgrad.SignatureError, match="of one number, but .* product, mixed") as caught:
        pair.value_and_grad(normal(2), normal(2))
    assert caught.value.code == "not-one-number"


def test_argnums_that_mean_nothing_are_refused(rosenbrock: Enzyme, write: Write) -> None:
    """Beyond the inputs, or an input without a derivative."""
    with pytest.raises(ffgrad.SignatureError, match="argnums has 1, but `rosenbrock` takes 1 input: x"):
        rosenbrock.grad(normal(3), argnums=1)
    with pytest.raises(
        ffgrad.SignatureError, match=r"argnums has 'y', which is no input's position or name\n  The inputs are: x\."
    ):
        rosenbrock.grad(normal(3), argnums="y")
    decay = enzyme(write(DECAY), "decay", DECAY_SIGNATURE)
    with pytest.raises(ffgrad.SignatureError, match="`t` has no derivative"):
        decay.jacobian(normal(3), 1.0, 1.0, argnums=0)


def test_the_wrong_number_of_cotangents_is_refused(pair: Enzyme) -> None:
    """And a wrong shape."""
    _, pullback = pair.vjp(normal(3), normal(3))
    with pytest.raises(ffgrad.SignatureError, match="2 cotangents, one for each output; 1 was given"):
        pullback(normal(3))
    with pytest.raises(ffgrad.SignatureError, match="cotangent of `product`"):
        pullback((normal(4), None))


# --- SciPy ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "Newton-CG", "trust-ncg", "trust-krylov", "trust-exact"])
def test_scipys_minimizers_take_the_methods_as_they_are(rosenbrock: Enzyme, method: str) -> None:
    """First order with the gradient; second order with Hessian-vector products or the Hessian."""
    second: dict[str, Any] = {}
    if method in ("Newton-CG", "trust-ncg", "trust-krylov"):
        second["hessp"] = rosenbrock.hessp
    if method == "trust-exact":
        second["hess"] = rosenbrock.hessian
    start = np.array([1.3, 0.7, 0.8, 1.9])
    result = scipy.optimize.minimize(rosenbrock.value_and_grad, start, jac=True, method=method, **second)
    np.testing.assert_allclose(result.x, np.ones(4), atol=1e-3)


def test_scipys_least_squares_takes_the_jacobian(write: Write) -> None:
    """Curve fitting with an exact Jacobian; scalars packed into an array by a wrapper of C."""
    source = DECAY + "void fit(const double* t, const double* p, int n, double* y) { decay(t, p[0], p[1], n, y); }\n"
    fit = enzyme(write(source), "fit", "const t[n], p[2] -> y[n]")
    t = np.linspace(0, 4, 30)
    data = 2.5 * np.exp(-0.7 * t)
    result = scipy.optimize.least_squares(
        lambda p: fit(t, p) - data, [1.0, 1.0], jac=lambda p: fit.jacobian(t, p, argnums=1)
    )
    np.testing.assert_allclose(result.x, [2.5, 0.7], rtol=1e-6)


@pytest.mark.parametrize("size", [3, 100_000])
@pytest.mark.parametrize("strided", [False, True])
def test_an_array_that_changes_before_the_pullback_is_an_error(size: int, strided: bool, write: Write) -> None:
    """One element is enough; the gradient would be of other values than those that were returned."""
    text = "double f(const double *x, const double *k, int n) { double s = 0; for (int i = 0; i < n; i++) s += *k * x[i] * x[i]; return s; }"
    f = enzyme(write(text), "f", "x[n], k[1] -> return")
    x = np.arange(1.0, 2 * size + 1.0)[::2] if strided else np.arange(1.0, size + 1.0)
    k = np.array([2.0])
    _, pullback = f.vjp(x, k)
    assert np.array_equal(pullback(1.0)[0], 4 * x)
    x[size // 2] += 1e-9
    with pytest.raises(ffgrad.ChangedInputError, match=r"`x` changed between `f.vjp` and the pullback") as caught:
        pullback(1.0)
    assert caught.value.code == "changed-input" and caught.value.function == "f"
    x[size // 2] = 0
    k[...] = 3
    with pytest.raises(ffgrad.ChangedInputError, match="`x` and `k` changed"):
        pullback(1.0)
