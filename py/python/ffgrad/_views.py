"""What a caller of the NumPy front end gives, seen as what the native side takes: the same memory, never a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ffgrad._core import MASKED, is_masked
from ffgrad._device import is_on_gpu
from ffgrad.errors import DeviceError, DtypeError

# What a CPU can read, by DLPack's numbers: its own memory, and what CUDA has pinned of it.
_READABLE = {1, 3}
_DEVICES = {10: "a ROCm device", 8: "a Metal device"}


def viewed(x: Any, name: str = "an array", kernels: bool = False) -> Any:
    """Return an object that the native side takes, with the same memory.

    An array on a GPU is refused at once, unless the function is a CUDA kernel.
    """
    if isinstance(x, np.integer):
        return int(x)
    if isinstance(x, np.generic):
        # A number with a type of its own, which float64 keeps though it is a Python float.
        return np.asarray(x)
    if isinstance(x, np.ndarray | float | int) or x is None:
        if type(x) is not np.ndarray and is_masked(x):
            what, hint = MASKED
            raise DtypeError(
                f"`{name}` {what}\n  {hint}",
                code="dtype",
                expected="an array",
                found="a masked array",
                hints=[hint],
            )
        return x
    if is_on_gpu(x):
        if not kernels:
            raise _elsewhere(name, "a CUDA device")
        return x
    if hasattr(x, "__dlpack_device__"):
        kind = int(x.__dlpack_device__()[0])
        if kind not in _READABLE:
            raise _elsewhere(name, _DEVICES.get(kind, "a device other than the CPU"))
    elif hasattr(x, "__cuda_array_interface__"):
        raise _elsewhere(name, "a CUDA device")
    if hasattr(x, "__dlpack__"):
        return x
    try:
        return _without_copy(x)
    except (TypeError, ValueError):
        return x  # the native side says what is wrong with it


# `copy=False` of NumPy 1 copies where it must; what it has instead is not in its documentation.
_NEVER: Any = False if int(np.__version__.partition(".")[0]) >= 2 else getattr(np, "_CopyMode").NEVER  # noqa: B009  (NumPy 2's stubs lack it)


def _without_copy(x: Any) -> Any:
    """Return an array that is the memory of an object: what ``numpy.asarray(x, copy=False)`` is from NumPy 2 on.

    Raises
    ------
    TypeError, ValueError
        Only a copy would be one.
    """
    try:
        return np.array(x, copy=_NEVER)
    except ValueError:
        # NumPy 1 does not ask objects that can say whether they copy.
        if _NEVER is False or not hasattr(x, "__array__"):
            raise
        made = x.__array__(copy=False)
        if not isinstance(made, np.ndarray):
            raise
        return made


def _elsewhere(name: str, device: str) -> DeviceError:
    hint = "Move it to the CPU before the call (CuPy: x.get(), JAX: numpy.asarray(x)), or write it as a CUDA kernel."
    return DeviceError(
        f"`{name}` is on {device}, and ffgrad.numpy runs on the CPU; CUDA kernels (.cu) run on CUDA devices\n  {hint}",
        code="device",
        expected="the CPU",
        found=device,
        hints=[hint],
    )
