"""The launch of an entry point on a GPU, whichever library owns the memory: its slots and its errors.

``_torch/cuda.py`` and ``_device.py`` build their calls on this; ``compile-driver/src/gpu`` launches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeVar

from ffgrad import _native
from ffgrad.errors import DeviceError, DifferentiationError, OutOfMemoryError

PRIMAL, SHADOW, DIRECTION, CHANGE = range(4)

# Memory for what a derivative allocates, at first: for each element of the first output, with these bounds.
_POOL_PER_ELEMENT, _POOL_LEAST, _POOL_MOST = 4096, 1 << 20, 1 << 28

_Results = TypeVar("_Results")
_PoolKey = tuple[str, int, tuple[tuple[int, ...], ...], int]

# In which part of an argument an entry point leaves its result.
RESULT = {"primal": PRIMAL, "vjp": SHADOW, "jvp": SHADOW, "hvp": CHANGE, "jvp2": CHANGE}
_SUMS = {("vjp", SHADOW), ("hvp", SHADOW), ("hvp", CHANGE)}


@dataclass(frozen=True)
class Slot:
    """A parameter of an entry point.

    Attributes
    ----------
    arg, part : int
        Index of the argument; itself, its shadow, its direction, or the change of its shadow.
    kind : str
        ``"given"``: read only, zeros where nothing is given. ``"owned"``: written, starts as a copy of what is given.
        ``"sum"``: starts with zeros and is added to. ``"number"``: an integer by value. ``"size"``: filled in by the native side.
    """

    arg: int
    part: int
    kind: str


class Description:
    """What is known of a kernel.

    Attributes
    ----------
    native, opened
        The opened function, for launches and for memory.
    function, file, line
        Its name, and where it is defined.
    args, inputs, outputs
        As in the manifest's plan.
    """

    def __init__(self, native: _native.Function) -> None:
        manifest = native.plan()
        prototype, plan = manifest["prototype"], manifest["plan"]
        # Tests put something between `native` and the driver; memory is taken from the function itself.
        self.native = self.opened = native
        self.function: str = prototype["function"]
        self.file: str = prototype["file"]
        self.line: int = prototype["line"]
        self.args: list[dict[str, Any]] = plan["args"]
        self.inputs: list[int] = plan["inputs"]
        self.outputs: list[int] = plan["outputs"]
        self.differentiable: int = native.differentiable
        self._slots: dict[tuple[str, int], list[Slot]] = {}
        self._pools: dict[_PoolKey, int] = {}

    def by_value(self, arg: int) -> bool:
        """Whether an argument is an integer that is passed by value."""
        return self.args[arg]["passing"] == "value" and self.args[arg]["dtype"] not in ("f32", "f64")

    def slots(self, entry: str, mask: int) -> list[Slot]:
        """Return the parameters of an entry point."""
        if (entry, mask) not in self._slots:
            pairs = self.native.slots(entry, mask)
            self._slots[entry, mask] = [Slot(arg, part, self._kind(entry, arg, part)) for arg, part in pairs]
        return self._slots[entry, mask]

    def _kind(self, entry: str, arg: int, part: int) -> str:
        role = self.args[arg]["role"]
        if role == "size":
            return "size"
        if role != "input":
            return "owned"
        if part == PRIMAL:
            return "number" if self.by_value(arg) else "given"
        return "sum" if (entry, part) in _SUMS else "given"

    def launched(
        self,
        entry: str,
        mask: int,
        shapes: Sequence[Sequence[int]],
        count: int,
        attempt: Callable[[int], tuple[_Results, int | None]],
    ) -> _Results:
        """Launch with a pool that is large enough for what the derivative allocates.

        Parameters
        ----------
        entry, mask
            The entry point and the inputs with a derivative.
        shapes, count
            Of one element, and how many elements a batch has.
        attempt
            Launches with a pool of so many bytes; returns the results, and how many bytes were asked for if that is known.

        Returns
        -------
        _Results
            The results of a launch in which no thread found the pool full. Its size is kept for calls of the same shapes.
        """
        key = (entry, mask, tuple(map(tuple, shapes)), count)
        while True:
            size = self._pool_bytes(key)
            results, asked = attempt(size)
            if asked is None:
                return results
            if asked <= size:
                # What depends on values may ask for a little more the next time.
                self._pools[key] = _rounded(asked + asked // 8) if asked else 0
                return results
            # Threads that ended did not ask for all that they need.
            self._pools[key] = _rounded(2 * max(asked, size))

    def _pool_bytes(self, key: _PoolKey) -> int:
        entry, _, shapes, count = key
        if entry == "primal":
            return 0
        guess = prod(shapes[self.outputs[0]]) * count * _POOL_PER_ELEMENT
        return self._pools.get(key, min(max(guess, _POOL_LEAST), _POOL_MOST))

    def where(self) -> str:
        """Return the line of a message that has the kernel's source location."""
        return f"\n  {self.file.rsplit('/', 1)[-1]}:{self.line}" if self.line else ""

    def details(self, code: str, **more: Any) -> dict[str, Any]:
        """Return the structured part of an error about the kernel."""
        return {"code": code, "function": self.function, "file": self.file, "line": self.line or None, **more}

    def too_large(self, entry: str, arrays: int, pool: int) -> OutOfMemoryError:
        """Return the refusal of a call whose arrays do not fit, with what it needs."""
        what = "values" if entry == "primal" else f"derivative ({entry})"
        hint = "Free arrays on the device, or call the kernel on fewer elements."
        return OutOfMemoryError(
            f"the {what} of `{self.function}` need {_mebibytes(arrays + pool)} on the GPU, more than is free{self.where()}\n"
            f"  results and shadows {_mebibytes(arrays)}, memory for what the derivative keeps {_mebibytes(pool)}\n"
            f"  {hint}",
            **self.details("out-of-memory", expected=f"{arrays + pool} bytes", hints=[hint]),
        )

    def elsewhere(self, name: str, expected: str, found: str) -> DeviceError:
        """Return the refusal of an input on another device."""
        hint = f"Move it before the call: to {expected}."
        return DeviceError(
            f"the inputs of `{self.function}` are on different devices\n"
            f"  expected `{name}` on {expected}, as the first GPU array\n  found    {found}\n  {hint}",
            code="mixed-devices",
            function=self.function,
            expected=expected,
            found=found,
            hints=[hint],
        )

    def on_cpu_only(self, what: str, hint: str) -> DeviceError:
        """Return the refusal of what ``ffgrad.numpy`` does with arrays of the CPU only."""
        return DeviceError(
            f"{what} `{self.function}` are computed on the CPU only{self.where()}\n  {hint}",
            **self.details("device", hints=[hint]),
        )

    def fault(self, error: Exception) -> DeviceError | None:
        """Return the typed error for a kernel that failed while it ran, as a framework reported it."""
        text = str(error)
        if "CUDA error" not in text and "CUDA_ERROR" not in text:
            return None
        address = any(words in text for words in ("illegal memory access", "misaligned address", "ILLEGAL_ADDRESS"))
        what = "read or wrote outside of its arrays" if address else "failed while it ran"
        hint = "compute-sanitizer names the line. This process cannot use the GPU any more: start it again."
        return DeviceError(
            f"`{self.function}` {what} on the GPU{self.where()}\n  > {text.splitlines()[0]}\n  {hint}",
            **self.details("illegal-address" if address else "kernel-failed", hints=[hint], output=text),
        )

    def unproven_in_capture(self) -> DifferentiationError:
        """Return the refusal of a check that would have to wait while a graph is captured."""
        hint = "Compute the derivative once before the capture."
        return DifferentiationError(
            f"the gradient of `{self.function}` is not proven yet, and cannot be while a CUDA graph is captured"
            f"{self.where()}\n  {hint}",
            **self.details("unproven-in-capture", hints=[hint]),
        )


def _rounded(size: int) -> int:
    """Return a size for a pool that many sizes share, so that a caching allocator finds the block again."""
    return -(-size // _POOL_LEAST) * _POOL_LEAST


def _mebibytes(count: int) -> str:
    return f"{count / (1 << 20):.1f} MiB"
