"""Arrays as releases of NumPy before 2.1 give them: no read-only array by DLPack, no ``numpy.asarray(copy=False)``.

Here the newest NumPy does as those did. ``CONTRIBUTING.md`` says how to run this folder with an old one.
"""

from __future__ import annotations

import array
import ctypes
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ffgrad
import ffgrad._views
import numpy as np
import pytest
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import Write
from support.programs import CUBE

# Stores the address of its input.
WHERE = """\
#include <stdint.h>
void where(const double* x, int m, int n, double* y, unsigned long long* address) {
  for (int i = 0; i < m * n; i++) y[i] = x[i] * x[i];
  *address = (unsigned long long)(uintptr_t)x;
}
"""
WHERE_SIGNATURE = "x[m,n] -> y[m,n], address[1]"


class Old(np.ndarray):
    """An array whose DLPack knows no version, so that it cannot say that it is read-only."""

    def __dlpack__(self, *, stream: None = None) -> Any:  # type: ignore[override]
        if not self.flags.writeable:
            raise BufferError("Cannot export readonly array since signalling readonly is unsupported by DLPack.")
        return super().__dlpack__(stream=stream)


def old(x: np.ndarray) -> np.ndarray:
    """Return a view as of an old NumPy, as writable as the array."""
    view = x.view(Old)
    assert view.flags.writeable == x.flags.writeable
    return view


def read_only(x: np.ndarray) -> np.ndarray:
    """Return a read-only view as of an old NumPy."""
    view = x.view(Old)
    view.flags.writeable = False
    return view


def normal(*shape: int) -> np.ndarray:
    """Normal numbers in double precision."""
    return np.random.default_rng(0).standard_normal(shape)


@pytest.fixture
def cube(write: Write) -> Enzyme:
    """Element by element."""
    return enzyme(write(CUBE), "cube", "x[n] -> y[n]")


@pytest.fixture
def before_2(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy 1's way to make an array without a copy."""
    never = np._CopyMode.NEVER  # type: ignore[attr-defined]
    monkeypatch.setattr(ffgrad._views, "_NEVER", never)


# --- read-only --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [old, read_only])
def test_a_read_only_array_is_read_in_place(write: Write, wrap: Callable[[np.ndarray], np.ndarray]) -> None:
    """No copy, and nothing is written to it."""
    where = enzyme(write(WHERE), "where", WHERE_SIGNATURE)
    x = normal(3, 4)
    copies, content = ffgrad.copies(), x.tobytes()
    y, address = where(wrap(x))
    assert int(address[0]) == x.ctypes.data
    assert ffgrad.copies() == copies
    np.testing.assert_allclose(y, x * x)
    y, pullback = enzyme(write(CUBE), "cube").vjp(wrap(x.ravel()))
    np.testing.assert_allclose(pullback(wrap(y))[0], 3 * x.ravel() ** 5)
    assert x.tobytes() == content


def test_read_only_arrays_of_every_layout_are_read(cube: Enzyme, tmp_path: Path) -> None:
    """Broadcast, with gaps, reversed, empty, mapped from a file; as input, tangent and cotangent."""
    np.save(tmp_path / "x.npy", normal(6))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    arrays = [np.broadcast_to(2.0, 6), normal(12)[::2], normal(6)[::-1], np.empty(0), mapped]
    for x in map(read_only, arrays):
        numbers = np.array(x)
        np.testing.assert_allclose(cube(x), numbers**3)
        _, pullback = cube.vjp(x)
        np.testing.assert_allclose(pullback(x)[0], 3 * numbers**3)
        np.testing.assert_allclose(cube.jvp(x, x)[1], 3 * numbers**3)
        np.testing.assert_allclose(cube.hvp(x, x, x), 6 * numbers**3)


def test_a_read_only_number_is_read(write: Write) -> None:
    """A 0-d array; and arrays of integers and truth values."""
    scaled = """
#include <stdbool.h>
void scaled(double a, const int* k, const bool* on, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = on[i] ? a * k[i] : 0;
}
"""
    f = enzyme(write(scaled), "scaled", "a, k[n], on[n] -> y[n]")
    k, on = np.arange(3, dtype=np.int32), np.array([True, False, True])
    np.testing.assert_allclose(f(read_only(np.array(2.5)), read_only(k), read_only(on)), 2.5 * k * on)
    np.testing.assert_allclose(f(np.array(2.5), k, on), 2.5 * k * on)


def test_a_call_keeps_no_read_only_array(cube: Enzyme) -> None:
    """And the pullback keeps what it reads again, until it goes."""
    x = read_only(normal(4))
    references = sys.getrefcount(x)
    for _ in range(3):
        cube(x)
        cube.vjp(x)[1](normal(4))
    assert sys.getrefcount(x) == references
    expected, end = 3 * np.array(x) ** 2, weakref.ref(x)
    _, pullback = cube.vjp(x)
    del x
    np.testing.assert_allclose(pullback(np.ones(4))[0], expected)
    del pullback
    assert end() is None


def test_a_pullback_notices_a_change_behind_a_read_only_array(cube: Enzyme) -> None:
    """Through the array that owns the memory."""
    x = normal(4)
    _, pullback = cube.vjp(read_only(x))
    x[0] = 7
    with pytest.raises(ffgrad.ChangedInputError):
        pullback(np.ones(4))


@pytest.mark.parametrize("wrap", [np.asarray, old, read_only])
def test_byte_swapped_numbers_are_refused_by_name(cube: Enzyme, wrap: Callable[[np.ndarray], np.ndarray]) -> None:
    """In calls and derivatives; the same whether the array can be written to or not."""
    x, swapped = normal(3), wrap(normal(3).astype(">f8"))
    for call in (lambda: cube(swapped), lambda: cube.jvp(x, swapped), lambda: cube.vjp(x)[1](swapped)):
        with pytest.raises(ffgrad.DtypeError, match="has an element type that no foreign parameter has") as caught:
            call()
        assert caught.value.found == ">f8"
        assert 'x.astype(x.dtype.newbyteorder("="))' in str(caught.value)
    np.testing.assert_allclose(cube(swapped.astype(swapped.dtype.newbyteorder("="))), x**3)


@pytest.mark.parametrize("wrap", [np.asarray, old, read_only])
def test_other_elements_are_refused_by_name(cube: Enzyme, wrap: Callable[[np.ndarray], np.ndarray]) -> None:
    """Objects, texts, dates, records, and numbers at distances that DLPack does not have."""
    for odd in (np.array([1, None]), np.array(["a"]), np.zeros(3, "M8[s]"), np.zeros(3, "f8,i4"), np.zeros(3, "f2")):
        with pytest.raises(ffgrad.DtypeError, match="`x` has an element type that no foreign parameter has"):
            cube(wrap(odd))
    with pytest.raises(ffgrad.DeviceError, match="field of a structured array"):
        cube(wrap(np.zeros(3, "f8,i4"))["f0"])


class Refusing:
    """A producer of DLPack that exports nothing."""

    def __dlpack__(self) -> Any:
        raise BufferError("not this one")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def test_a_producer_that_exports_nothing_is_refused_by_name(cube: Enzyme) -> None:
    """Whatever else it says of itself."""
    descriptions: list[Any] = [None, {}, {"data": None}, {"data": (0, True)}, {"data": (8, True), "typestr": 5}]
    for description in descriptions:
        producer = Refusing()
        producer.__array_interface__ = description  # type: ignore[attr-defined]
        with pytest.raises(ffgrad.DtypeError, match="`x` has an element type that no foreign parameter has"):
            cube(producer)


# --- objects that are no arrays ---------------------------------------------------------------------------


@pytest.mark.usefixtures("before_2")
def test_objects_with_memory_are_read_in_place_with_numpy_1(write: Write) -> None:
    """Buffers, writable or not, and ctypes' arrays."""
    where = enzyme(write(WHERE), "where", WHERE_SIGNATURE)
    x = normal(2, 3)
    foreign = ((ctypes.c_double * 3) * 2)(*map(tuple, x))
    for values, place in (
        (memoryview(x), x.ctypes.data),
        (memoryview(x).toreadonly(), x.ctypes.data),
        (foreign, ctypes.addressof(foreign)),
    ):
        y, address = where(values)
        assert int(address[0]) == place
        np.testing.assert_allclose(y, x * x)


@pytest.mark.usefixtures("before_2")
def test_the_standard_librarys_arrays_are_derived_with_numpy_1(cube: Enzyme) -> None:
    """As inputs and cotangents."""
    x = array.array("d", [1.0, 2.0])
    value, pullback = cube.vjp(x)
    np.testing.assert_allclose(value, [1.0, 8.0])
    np.testing.assert_allclose(pullback(x)[0], [3.0, 24.0])
    with pytest.raises(ffgrad.DtypeError, match="has an element type that no foreign parameter has"):
        cube(memoryview(normal(3).astype(">f8")))


class Convertible:
    """An object that is made an array by ``__array__``, which makes no copy where none is allowed."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        assert dtype is None
        return self.x if copy is False else self.x.copy()


class Copying(Convertible):
    """One that always copies."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a copy is needed")
        return self.x.copy()


class Unasked(Convertible):
    """One from before NumPy 2, that nobody can ask."""

    def __array__(self, dtype: Any = None) -> np.ndarray:  # type: ignore[override]
        return self.x


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning")
def test_the_same_objects_are_refused_with_both_versions(
    cube: Enzyme, version: int, request: pytest.FixtureRequest
) -> None:
    """Lists, texts of bytes, and what would be copied."""
    if version == 1:
        request.getfixturevalue("before_2")
    x = normal(3)
    np.testing.assert_allclose(cube(Convertible(x)), x**3)
    for other in ([1.0, 2.0], (1.0,), b"12345678", range(3), object(), 1j, {}, np.float64, Copying(x), Unasked(x)):
        with pytest.raises(ffgrad.DtypeError, match="`x` must be an array, a tensor or a number, not"):
            cube(other)
