"""Arrays on a GPU without PyTorch: CuPy's, JAX's and others', by DLPack, for ``ffgrad.numpy``.

==============  ==========================================================================================
inputs          taken in place: ``x.__dlpack__(stream=s)``, after which they are ready on stream s
stream          CuPy's current one; for other libraries the legacy default stream, and the call waits for
                its end, since they do not know when their arrays are no longer read
results         memory of the driver's own pool, handed over by ``from_dlpack`` of the inputs' library,
                whose stream waits for ours
==============  ==========================================================================================

:class:`Calls` has the methods of the native function that ``ffgrad.numpy`` uses. The check of derivatives is done by the host
(``_gpu_check.py``): it happens once.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ffgrad import _native
from ffgrad._arguments import counted, number_given
from ffgrad._gpu import RESULT, Description, Slot
from ffgrad._gpu_check import Arrays, Check
from ffgrad._plan import DTYPES
from ffgrad.errors import DeviceError, DtypeError, ShapeError, SignatureError

# DLPack's numbers of memory that a CUDA kernel reads: its device's, and managed memory.
_CUDA = {2, 13}
# The legacy default stream, which waits for all others that are not marked to be apart.
_DEFAULT = 1


def is_on_gpu(x: Any) -> bool:
    """Return whether an object is an array on a CUDA device, and not a tensor of PyTorch's or ours."""
    return hasattr(x, "__dlpack_device__") and int(x.__dlpack_device__()[0]) in _CUDA


def loop_elsewhere(function: str, name: str, device: str) -> DeviceError:
    """Return the refusal of an input of a loop over steps (``repeat``) that is on a GPU."""
    hint = f"Move `{name}` to the CPU before the call, or write the loop around calls of one step, without `repeat`."
    return DeviceError(
        f"`{name}` is on {device}, and the loop over steps of `{function}` runs on the CPU\n  {hint}",
        code="device",
        function=function,
        expected="the CPU",
        found=device,
        hints=[hint],
    )


def _library(x: Any) -> Any:
    """Return what has ``from_dlpack`` for arrays of this kind."""
    root = type(x).__module__.split(".")[0]
    if root in ("jax", "jaxlib"):
        return importlib.import_module("jax.dlpack")
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__()
    return importlib.import_module(root)


def _current_stream(x: Any) -> tuple[int, bool]:
    """Return the stream to work on, and whether the library orders its memory by it."""
    if type(x).__module__.split(".")[0] == "cupy":
        return int(importlib.import_module("cupy").cuda.get_current_stream().ptr) or _DEFAULT, True
    return _DEFAULT, False


class Calls:
    """A kernel called on arrays of one library.

    Parameters
    ----------
    kernel
        The kernel.
    checks
        What is known of its derivatives.
    inputs
        As the user gave them.
    """

    def __init__(self, kernel: Description, checks: Check, inputs: Sequence[Any]) -> None:
        first = next(x for x in inputs if is_on_gpu(x))
        self.kernel, self.checks = kernel, checks
        self.library = _library(first)
        self.device = int(first.__dlpack_device__()[1])
        self.stream, self.ordered = _current_stream(first)
        # What others own stays theirs until the GPU has read it.
        self._held: list[Any] = []
        # While derivatives are checked arrays come from the host.
        self._internal = False

    # --- as the native function -----------------------------------------------------------------------

    def primal(self, inputs: Sequence[Any], expected: int) -> tuple[Any, ...]:
        """Return the outputs, as arrays of the library."""
        point = _Point(self, inputs)
        return self._theirs(point.outputs("primal", 0, {}))

    def vjp(self, inputs: Sequence[Any], cotangents: Sequence[Any], mask: int) -> tuple[Any, ...]:
        """Return J^T v for the inputs in ``mask``, ``None`` for the others."""
        point = _Point(self, inputs)
        self._prove(point, "first", mask)
        return self._theirs(point.gradients("vjp", mask, point.of_outputs(cotangents, 1)))

    def jvp(self, inputs: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, ...]:
        """Return J t, ``None`` for integers."""
        point = _Point(self, inputs)
        mask = sum(1 << i for i, t in enumerate(tangents) if t is not None) & self.kernel.differentiable
        self._prove(point, "first", mask)
        return self._theirs(point.outputs("jvp", mask, point.of_inputs(tangents, 1)))

    def hvp(
        self, inputs: Sequence[Any], cotangents: Sequence[Any], tangents: Sequence[Any], mask: int
    ) -> tuple[Any, ...]:
        """Return the change of J^T v along the tangents, for the inputs in ``mask``."""
        point = _Point(self, inputs)
        moving = sum(1 << i for i, t in enumerate(tangents) if t is not None) & self.kernel.differentiable
        self._prove(point, "second", mask | moving)
        values = {**point.of_outputs(cotangents, 1), **point.of_inputs(tangents, 2)}
        changes = point.gradients("hvp", mask | moving, values)
        return self._theirs([c if mask >> i & 1 else None for i, c in enumerate(changes)])

    def _theirs(self, results: Sequence[Any]) -> tuple[Any, ...]:
        made = tuple(None if y is None else self.library.from_dlpack(y) for y in results)
        if not self.ordered:
            _native.download(self.kernel.opened, self.device, self.stream, 0, 0)
        self._held.clear()
        return made

    # --- memory ---------------------------------------------------------------------------------------

    def array(self, shape: Sequence[int], dtype: str, data: bytes | None = None, source: int | None = None) -> Any:
        """Make an array of ours: from bytes, as a copy of memory at an address, or zeros."""
        return _native.DeviceArray(self.kernel.opened, self.device, self.stream, list(shape), dtype, data, source)

    def taken(self, x: Any, name: str, dtype: str, shape: Sequence[int] | None = None) -> Any:
        """Return an array that the GPU can read: another library's in place, numbers as an array of ours."""
        if isinstance(x, _native.DeviceArray):
            return x
        if isinstance(x, np.ndarray | np.generic | float | int):
            host = np.asarray(x)
            if host.ndim and not self._internal:
                raise self.kernel.elsewhere(name, f"cuda:{self.device}", "the CPU")
            host = np.array(host, dtype=dtype, order="C")
            return self.array(host.shape if shape is None else shape, dtype, host.tobytes())
        if not is_on_gpu(x) or int(x.__dlpack_device__()[1]) != self.device:
            found = f"cuda:{x.__dlpack_device__()[1]}" if is_on_gpu(x) else "the CPU"
            raise self.kernel.elsewhere(name, f"cuda:{self.device}", found)
        view = _native.DeviceView(_capsule(x, self.stream))
        if view.dtype != dtype:
            raise DtypeError(
                f"`{name}` of `{self.kernel.function}`: expected {dtype}, found {view.dtype or 'another type'}\n"
                "  ffgrad never converts silently: convert the input before the call.",
                code="dtype",
                function=self.kernel.function,
                expected=dtype,
                found=view.dtype,
            )
        if not view.contiguous:
            hint = "Make it contiguous before the call: ascontiguousarray(x)."
            raise DeviceError(
                f"`{name}` of `{self.kernel.function}` is not row-major in the GPU's memory\n  {hint}",
                code="device",
                function=self.kernel.function,
                hints=[hint],
            )
        self._held.append(view)
        return view

    def host(self, x: Any) -> np.ndarray:
        """Copy an array to the host; waits."""
        if isinstance(x, np.ndarray):
            return x
        dtype = np.dtype(x.dtype)
        count = prod(x.shape) * dtype.itemsize
        data = _native.download(self.kernel.opened, self.device, self.stream, x.address, count)
        values: np.ndarray = np.frombuffer(data, dtype=dtype).reshape(x.shape).copy()
        return values

    def _prove(self, point: _Point, order: str, mask: int) -> None:
        if not mask or not self.checks.needed((order, mask, False)):
            return
        self._internal = True
        try:
            probe = _Probe(point, mask)
            inputs: list[Any] = [self.host(x) if not isinstance(x, int) else x for x in point.inputs]
            wanted = [x if mask >> i & 1 else None for i, x in enumerate(inputs)]
            single = any(x is not None and x.dtype == np.float32 for x in wanted)
            if order == "first":
                self.checks.first((order, mask, False), probe, inputs, wanted, single)
                return
            self._prove(point, "first", mask)
            self._internal = True
            outputs = [self.host(y) for y in point.outputs("primal", 0, {})]
            like = [y if y.dtype.kind == "f" else None for y in outputs]
            self.checks.second((order, mask, False), probe, inputs, wanted, like, single)
        finally:
            self._internal = False


def _capsule(x: Any, stream: int) -> Any:
    """Ask for an array, ready on the stream; from producers before DLPack 1.0 too."""
    try:
        return x.__dlpack__(stream=stream, max_version=(1, 1))
    except TypeError:
        return x.__dlpack__(stream=stream)


class _Point:
    """The inputs of a call on the GPU, and launches there."""

    def __init__(self, calls: Calls, inputs: Sequence[Any]) -> None:
        kernel = calls.kernel
        self.calls, self.kernel = calls, kernel
        self.names = [kernel.args[arg]["name"] for arg in kernel.inputs]
        self.dtypes = [DTYPES[arg["dtype"]] for arg in kernel.args]
        if len(inputs) != len(kernel.inputs):
            message = f"`{kernel.function}` takes {counted(len(kernel.inputs), 'input')}, {number_given(len(inputs))}"
            raise SignatureError(message, code="arity", function=kernel.function)
        if any(arg["batched"] for arg in kernel.args):
            raise kernel.on_cpu_only("batches (`...`) of", "Use ffgrad.torch, where a batch is one launch.")
        self.inputs = [self._input(i, x) for i, x in enumerate(inputs)]
        self.cores = [[] if isinstance(x, int) else list(x.shape) for x in self.inputs]
        self.shapes = kernel.native.shapes(self.cores)

    def _input(self, i: int, x: Any) -> Any:
        arg = self.kernel.inputs[i]
        if not self.kernel.by_value(arg):
            return self.calls.taken(x, self.names[i], self.dtypes[arg])
        if isinstance(x, int | np.integer | np.bool_) or (isinstance(x, np.ndarray) and not x.ndim):
            return int(x)
        raise DtypeError(
            f"`{self.names[i]}` of `{self.kernel.function}` is an integer by value: on a GPU it must be a Python number\n"
            "  Reading it from an array would wait for the GPU. Give int(x).",
            code="dtype",
            function=self.kernel.function,
        )

    def of_inputs(self, values: Sequence[Any], part: int) -> dict[tuple[int, int], Any]:
        return self._of(self.kernel.inputs, values, part, "tangent")

    def of_outputs(self, values: Sequence[Any], part: int) -> dict[tuple[int, int], Any]:
        return self._of(self.kernel.outputs, values, part, "cotangent")

    def _of(self, args: list[int], values: Sequence[Any], part: int, what: str) -> dict[tuple[int, int], Any]:
        found = {}
        for arg, value in zip(args, values, strict=True):
            if value is None or self.dtypes[arg] not in ("float32", "float64"):
                continue
            name = f"{what} of {self.kernel.args[arg]['name']}"
            taken = self.calls.taken(value, name, self.dtypes[arg])
            if list(taken.shape) != list(self.shapes[arg]):
                raise _misshapen(name, self.kernel.function, self.shapes[arg], taken.shape)
            found[arg, part] = taken
        return found

    def run(self, entry: str, mask: int, values: dict[tuple[int, int], Any]) -> dict[tuple[int, int], Any]:
        """Launch an entry point; as ``_torch.cuda.Call.run``, without a batch."""
        mask = self.kernel.native.mask_on_gpu(entry, mask)
        return self.kernel.launched(entry, mask, self.shapes, 1, lambda pool: self._attempt(entry, mask, values, pool))

    def _attempt(
        self, entry: str, mask: int, values: dict[tuple[int, int], Any], pool_bytes: int
    ) -> tuple[dict[tuple[int, int], Any], int | None]:
        calls, kernel = self.calls, self.kernel
        points = dict(zip(kernel.inputs, self.inputs, strict=True))
        memory: dict[tuple[int, int], Any] = {}
        for slot in kernel.slots(entry, mask):
            given = values.get((slot.arg, slot.part)) if slot.part else points.get(slot.arg)
            memory[slot.arg, slot.part] = self._memory(slot, given)
        # Zeroed for want of anything cheaper: only its header is read.
        pool = calls.array([pool_bytes], "uint8") if pool_bytes else None
        addresses = [x if isinstance(x, int) else x.address for x in memory.values()]
        target = (calls.device, calls.stream, pool.address if pool is not None else 0, pool_bytes)
        return memory, kernel.native.launch(entry, mask, target, self.cores, addresses)

    def _memory(self, slot: Slot, given: Any) -> Any:
        if slot.kind == "size":
            return 0
        if slot.kind == "number":
            return given & (1 << 64) - 1
        if slot.kind == "given" and given is not None:
            return given
        source = given.address if slot.kind == "owned" and given is not None else None
        return self.calls.array(self.shapes[slot.arg], self.dtypes[slot.arg], None, source)

    def outputs(self, entry: str, mask: int, values: dict[tuple[int, int], Any]) -> list[Any]:
        memory = self.run(entry, mask, values)
        return [memory.get((arg, RESULT[entry])) for arg in self.kernel.outputs]

    def gradients(self, entry: str, mask: int, values: dict[tuple[int, int], Any]) -> list[Any]:
        memory = self.run(entry, mask, values)
        return [memory[arg, RESULT[entry]] if mask >> i & 1 else None for i, arg in enumerate(self.kernel.inputs)]


def _misshapen(name: str, function: str, expected: Sequence[int], found: Sequence[int]) -> Exception:
    return ShapeError(
        f"the {name} of `{function}` has the shape {list(found)}, expected {list(expected)}",
        code="shadow-shape",
        function=function,
    )


class _Probe:
    """A call as the checks see it: arrays of the host in and out."""

    def __init__(self, point: _Point, mask: int) -> None:
        self.point, self.mask = point, mask
        self.numbers = np.random.default_rng(20_230_517)

    def _home(self, results: Sequence[Any]) -> Arrays:
        return [None if x is None else self.point.calls.host(x) for x in results]

    def _at(self, inputs: Arrays) -> _Point:
        return _Point(self.point.calls, inputs)

    def primal(self, inputs: Arrays) -> Arrays:
        return self._home(self._at(inputs).outputs("primal", 0, {}))

    def jvp(self, inputs: Arrays, tangents: Arrays) -> Arrays:
        at = self._at(inputs)
        return self._home(at.outputs("jvp", self.mask, at.of_inputs(tangents, 1)))

    def vjp(self, inputs: Arrays, cotangents: Arrays) -> Arrays:
        at = self._at(inputs)
        return self._home(at.gradients("vjp", self.mask, at.of_outputs(cotangents, 1)))

    def hvp(self, inputs: Arrays, cotangents: Arrays, tangents: Arrays) -> Arrays:
        at = self._at(inputs)
        values = {**at.of_outputs(cotangents, 1), **at.of_inputs(tangents, 2)}
        return self._home(at.gradients("hvp", self.mask, values))

    def jvp2(self, inputs: Arrays, tangents: Arrays, directions: Arrays) -> Arrays:
        raise NotImplementedError  # nobody asks for it here

    def random(self, like: Arrays) -> Arrays:
        return [None if x is None else np.asarray(self.numbers.standard_normal(x.shape), dtype=x.dtype) for x in like]

    def moved(self, inputs: Arrays, along: Arrays, step: float) -> Arrays:
        return [x if t is None else np.asarray(x + step * t, dtype=x.dtype) for x, t in zip(inputs, along, strict=True)]

    def dot(self, a: Arrays, b: Arrays) -> tuple[float, float]:
        pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
        terms = [(np.asarray(x, np.float64) * np.asarray(y, np.float64)).ravel() for x, y in pairs]
        joined = np.concatenate(terms) if terms else np.zeros(0)
        return float(joined.sum()), float(np.abs(joined).sum())
