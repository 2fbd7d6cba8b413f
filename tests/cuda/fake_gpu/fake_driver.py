"""What tests say to the driver of ``fake_cuda.c``, and arrays on its devices as another library would have them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

_LAUNCHED = ctypes.CFUNCTYPE(
    None,
    ctypes.c_char_p,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_uint32),
    ctypes.POINTER(ctypes.c_uint32),
    ctypes.c_uint64,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_uint64),
)
# Bytes at the beginning of a pool.
_HEADER = 32
_ENTRIES = {"ffgrad_primal", "ffgrad_vjp", "ffgrad_jvp", "ffgrad_hvp", "ffgrad_jvp2"}


class Driver:
    """The driver, and the function whose launches are done by the CPU device.

    Attributes
    ----------
    launches : list of tuple
        Name, device, grid, block, stream and parameters of each launch.
    needs_bytes : int
        What derivatives ask for of their pools; 0 for nothing.
    """

    def __init__(self, library: Any) -> None:
        self.library = library
        self.launches: list[tuple[Any, ...]] = []
        self.native: Any = None
        self.calls: list[tuple[str, int, Any]] = []
        self.errors: list[BaseException] = []
        self.needs_bytes = 0
        self._callback = _LAUNCHED(self._launched)
        library.fake_count.restype = ctypes.c_long
        library.fake_on_launch(self._callback)

    def reset(self) -> None:
        """Let everything be as it was at first."""
        self.set(capturing=0, driver_version=12080, threads_per_block=1024, capability=90)
        self.fail("", 0)
        self.needs_bytes = 0
        self.library.fake_make_current(-1)
        assert not self.errors, self.errors

    def set(self, **values: int) -> None:
        """Change what the driver says of itself and its devices."""
        for name, value in values.items():
            self.library.fake_set(name.encode(), value)

    def fail(self, function: str, code: int) -> None:
        """Let the next call of a function of the driver's fail."""
        self.library.fake_fail(function.encode(), code)

    def count(self, what: str) -> int:
        """Return how often something has happened, or how much of it there is."""
        return int(self.library.fake_count(what.encode()))

    def runs(self, native: Any, lanes: int = 1) -> Recorded:
        """Let launches of a function compute, by the CPU device; a batch has a grid of ``lanes`` blocks along z an element."""
        from support.cuda_cases import StandIn

        self.native = StandIn(native)
        self.lanes = lanes
        return Recorded(native, self)

    def _launched(
        self, name: bytes, device: int, grid: Any, block: Any, stream: int, count: int, parameters: Any
    ) -> None:
        values = [parameters[i] for i in range(count)]
        self.launches.append((name.decode(), device, tuple(grid[:3]), tuple(block[:3]), stream, values))
        if name == b"ffgrad_reset":
            pool, size, _ = values
            needed = self.needs_bytes or _HEADER
            (ctypes.c_uint64 * 2).from_address(pool)[:] = [size, needed]
        if self.native is None or name.decode() not in _ENTRIES:
            return
        try:
            self._compute(grid[2], values)
        except BaseException as error:  # a callback cannot raise
            self.errors.append(error)

    def _compute(self, layers: int, values: list[int]) -> None:
        entry, mask, shapes = self.calls[-1]
        slots = len(self.native.native.slots(entry, mask))
        # The slots, the pool, and over a batch a distance for each slot.
        distances = [ctypes.c_int64(d).value for d in values[slots + 1 :]]
        for element in range(layers // self.lanes if distances else 1):
            own = [v + element * d for v, d in zip(values, distances or [0] * slots, strict=False)]
            self.native.element(entry, mask, shapes, own[:slots])


class Recorded:
    """A native function whose launches are noted before they go to the driver."""

    def __init__(self, native: Any, driver: Driver) -> None:
        self._native, self._driver = native, driver

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def launch(self, entry: str, mask: int, target: Any, shapes: Any, slots: Any, batch: Any = None) -> Any:
        """Launch it."""
        self._driver.calls.append((entry, mask, shapes))
        return self._native.launch(entry, mask, target, shapes, slots, batch)


class DeviceArray:
    """An array of some library on a GPU: NumPy's memory that says it is a device's.

    Attributes
    ----------
    streams : list
        The streams for which it was asked.
    """

    def __init__(self, host: Any, device: int = 0, legacy: bool = False) -> None:
        self.host = np.asarray(host)
        self.device, self.legacy = device, legacy
        self.shape, self.dtype = self.host.shape, self.host.dtype
        self.streams: list[int | None] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.device

    def __array_namespace__(self) -> type[Library]:
        return Library

    def __dlpack__(self, *, stream: int | None = None, **options: Any) -> Any:
        if self.legacy and options:
            raise TypeError("unexpected keyword argument")
        self.streams.append(stream)
        # NumPy refuses to export memory that is read only to old consumers, and knows no devices: the number is written over.
        capsule = self.host.__dlpack__()
        _managed(capsule).contents.device_type = 2
        _managed(capsule).contents.device_id = self.device
        return capsule


class Library:
    """The library of :class:`DeviceArray`."""

    @staticmethod
    def from_dlpack(x: Any) -> DeviceArray:
        """Take an array over; its memory lives as long as ours."""
        kind, device = x.__dlpack_device__()
        assert kind == 2
        capsule = x.__dlpack__(stream=77)
        head = _managed(capsule).contents
        shape = tuple(head.shape[i] for i in range(head.ndim))
        dtype = np.dtype({0: "i", 1: "u", 2: "f", 6: "b"}[head.code] + str(head.bits // 8))
        size = int(np.prod(shape, dtype=int)) * dtype.itemsize
        memory = (ctypes.c_char * size).from_address(head.data) if size else b""
        result = DeviceArray(np.frombuffer(memory, dtype=dtype).reshape(shape).copy(), device)
        result.streams.append(77)
        return result


class _Managed(ctypes.Structure):
    """The beginning of a ``DLManagedTensor``."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
    ]


def _managed(capsule: Any) -> Any:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, b"dltensor"), ctypes.POINTER(_Managed))
