"""CUDA tensors: the operators' kernels for GPUs, launched on PyTorch's current stream.

The operators of ``torch-ext/`` have a kernel under the dispatch key ``CUDA`` here; what is built on the operators (backward and double
backward, ``torch.func``, ``vmap``, ``torch.compile``) is the same for both devices. The native half builds the PTX, loads it and launches;
here memory is allocated by PyTorch, and so belongs to the stream's order, and every slot of the call plan gets an address. A batch is one
launch with a further grid dimension: each slot passes the distance between elements to the native half. Nothing waits for the
GPU but the check at the first derivative of each kind (``_gpu_check.py``).

A small call costs what Python does for it, so what follows from shapes is kept (``cuda_layout.py``), and a plain call comes here
without the dispatcher (``cuda_eager.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import prod
from typing import Any

import torch

from ffgrad import _native
from ffgrad._arguments import counted, number_given
from ffgrad._device import loop_elsewhere
from ffgrad._gpu import RESULT, Description
from ffgrad._gpu_check import Arrays, Check
from ffgrad._plan import DTYPES, Plan, pack, unpack
from ffgrad._torch.cuda_layout import Layouts, Place
from ffgrad._torch.library import LIBRARY
from ffgrad._torch.plans import TORCH, given_to, native_of, plan_of
from ffgrad._torch.shapes import _check_types
from ffgrad.errors import DeviceError, DtypeError, SignatureError

Tensors = Sequence[torch.Tensor]


def concerns(inputs: Sequence[Any]) -> bool:
    """Return whether any input is on a GPU."""
    return any(isinstance(x, torch.Tensor) and x.is_cuda for x in inputs)


def of_loop(plan: Plan, inputs: Sequence[Any]) -> DeviceError:
    """Return the refusal of tensors on a GPU by a loop over steps."""
    on_gpu = next(i for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.is_cuda)
    name = plan.names[on_gpu] if on_gpu < len(plan.names) else "a tensor"
    return loop_elsewhere(plan.function, name, str(inputs[on_gpu].device))


class Kernel(Description):
    """A kernel on GPUs; one a function."""

    def __init__(self, native: _native.Function, verify: str) -> None:
        super().__init__(native)
        self.dtypes = [TORCH.dtype(DTYPES[arg["dtype"]]) for arg in self.args]
        self.input_dtypes = [self.dtypes[arg] for arg in self.inputs]
        self.checks = Check(self, verify)
        self.layouts = Layouts(self, self.dtypes)
        # Positions of the inputs that have an address.
        self.arrays = [i for i, arg in enumerate(self.inputs) if not self.by_value(arg)]

    def look_at(self, inputs: Sequence[Any]) -> None:
        """Refuse inputs on another device or of another type, by name; called for what a user gave."""
        if len(inputs) != len(self.inputs):
            message = f"`{self.function}` takes {counted(len(self.inputs), 'input')}, {number_given(len(inputs))}"
            raise SignatureError(message, code="arity", function=self.function)
        device = next(x.device for x in inputs if isinstance(x, torch.Tensor) and x.is_cuda)
        for arg, dtype, value in zip(self.inputs, self.input_dtypes, inputs, strict=True):
            if isinstance(value, torch.Tensor) and (value.device != device or value.dtype != dtype):
                self._refuse(arg, value, device)

    def _refuse(self, arg: int, value: torch.Tensor, device: torch.device) -> None:
        """Refuse an input for what it is; an integer by value may be on the CPU."""
        name = self.args[arg]["name"]
        if value.device != device and not (self.by_value(arg) and value.device.type == "cpu"):
            raise self.elsewhere(name, str(device), str(value.device))
        if value.dtype != self.dtypes[arg]:
            expected, found = (str(t).removeprefix("torch.") for t in (self.dtypes[arg], value.dtype))
            raise DtypeError(
                f"`{name}` of `{self.function}`: expected {expected}, found {found}\n"
                "  ffgrad never converts silently: convert the input before the call.",
                code="dtype",
                function=self.function,
                expected=expected,
                found=found,
            )


_KERNELS: dict[str, Kernel] = {}


def kernel_of(spec: str) -> Kernel:
    """Return the kernel behind a spec.

    Raises
    ------
    DeviceError
        The function is no CUDA kernel.
    """
    if spec not in _KERNELS:
        native, given = native_of(spec), given_to(spec)
        if not native.is_kernel:
            function = given["function"]
            hint = "Convert the input before the call: x.cpu()."
            raise DeviceError(
                f"`{function}` is compiled for the CPU: an input is on a GPU\n  {hint}",
                code="device",
                function=function,
                expected="cpu",
                found="cuda",
                hints=[hint],
            )
        _KERNELS[spec] = Kernel(native, given["options"].get("verify", "once"))
    return _KERNELS[spec]


class Call:
    """The arrays of one call: each with the leading dimensions of the batch, of full size or 1, before its own.

    Parameters
    ----------
    kernel, spec
        What is called.
    inputs
        As the operators take them.
    batch
        Number of leading dimensions that are mapped over; those of a ``...`` follow.
    more
        Cotangents and tangents, for the size of the batch.
    """

    def __init__(self, kernel: Kernel, spec: str, inputs: Tensors, batch: int, more: Tensors) -> None:
        plan = plan_of(spec)
        _check_types(plan, inputs)
        self.kernel = kernel
        self.device = next((x.device for x in inputs if x.is_cuda), inputs[0].device)
        self.layout = kernel.layouts.of(plan, inputs, batch, more)
        self.lead = self.layout.lead
        self.inputs = [
            x if x.device == self.device else self._at_home(arg, x)
            for arg, x in zip(kernel.inputs, inputs, strict=True)
        ]

    def _at_home(self, arg: int, x: torch.Tensor) -> torch.Tensor:
        """Return an input of the CPU on the GPU: numbers come so, and integers by value stay there."""
        if self.kernel.by_value(arg):
            return x
        if x.device.type == "cpu" and x.numel() == 1 and not self.kernel.args[arg]["shape"]:
            # A fill and not a copy, which a CUDA graph could not capture.
            return torch.full(x.shape, x.item(), dtype=x.dtype, device=self.device)
        raise self.kernel.elsewhere(self.kernel.args[arg]["name"], str(self.device), str(x.device))

    def _viewed(self, arg: int, x: torch.Tensor) -> torch.Tensor:
        """Return the tensor with every leading dimension."""
        if not self.layout.own:
            return x
        shape = self.layout.view(arg, x.shape)
        return x if len(shape) == x.dim() else x.reshape(shape)

    def number(self, arg: int, x: torch.Tensor) -> int:
        """Return an integer that is passed by value."""
        if x.device.type != "cpu":
            raise DtypeError(
                f"`{self.kernel.args[arg]['name']}` of `{self.kernel.function}` is an integer by value: on a GPU it must be a "
                "Python number\n  Reading it from a tensor would wait for the GPU. Give int(x).",
                code="dtype",
                function=self.kernel.function,
            )
        if x.numel() != 1:
            raise DtypeError(
                f"`{self.kernel.args[arg]['name']}` of `{self.kernel.function}` is an integer by value: a batch on a GPU shares "
                "it\n  Call the kernel for each value.",
                code="dtype",
                function=self.kernel.function,
            )
        return int(x) & (1 << 64) - 1

    def run(self, entry: str, mask: int, values: dict[tuple[int, int], torch.Tensor]) -> dict[tuple[int, int], Any]:
        """Launch an entry point.

        Parameters
        ----------
        entry
            ``"primal"``, ``"vjp"``, ``"jvp"``, ``"hvp"`` or ``"jvp2"``.
        mask
            The inputs with a derivative, as bits.
        values
            What is given, by argument and part, with leading dimensions; not changed. What is not given is zero.

        Returns
        -------
        dict
            The tensor of every argument and part, with the leading dimensions.
        """
        served, places = self.layout.places(entry, mask)
        if entry == "primal":
            return self._attempt(entry, served, places, values, 0)[0]
        return self.kernel.launched(
            entry,
            served,
            self.layout.shapes,
            self.layout.count,
            lambda pool: self._attempt(entry, served, places, values, pool),
        )

    def _attempt(
        self,
        entry: str,
        mask: int,
        places: Sequence[Place],
        values: dict[tuple[int, int], torch.Tensor],
        pool_bytes: int,
    ) -> tuple[dict[tuple[int, int], Any], int | None]:
        """Launch with a pool of so many bytes; return the tensors, and what was asked for."""
        fills: list[tuple[int, int, int]] = []
        try:
            memory = {place.key: self._memory(place, values.get(place.key), fills) for place in places}
            pool = torch.empty(pool_bytes, dtype=torch.uint8, device=self.device) if pool_bytes else None
        except torch.cuda.OutOfMemoryError as error:
            raise self.kernel.too_large(entry, self.layout.bytes(places), pool_bytes) from error
        addresses = [x.data_ptr() if isinstance(x, torch.Tensor) else x for x in memory.values()]
        distances = (self.layout.count, [self._distance(x) for x in memory.values()]) if self.lead else None
        device, stream = self.device.index or 0, _stream(self.device)
        target = (device, stream, pool.data_ptr() if pool is not None else 0, pool_bytes)
        try:
            self.kernel.native.fill(device, stream, fills)
            return memory, self.kernel.native.launch(entry, mask, target, self.layout.cores, addresses, distances)
        except RuntimeError as error:
            raise self.kernel.fault(error) or error from None

    def _memory(self, place: Place, given: torch.Tensor | None, fills: list[tuple[int, int, int]]) -> Any:
        """Return a slot's tensor, or its number; note what is to be filled before the launch: address, source, bytes."""
        if place.kind == "size":
            return 0
        if place.kind == "number":
            return self.number(place.key[0], self.inputs[place.position])
        if given is not None and place.kind == "given":
            return self._readable(given) if self.lead else given.contiguous()
        if given is not None and place.kind != "sum" and not (given.shape == place.zeros and given.is_contiguous()):
            return given.expand(place.zeros).clone(memory_format=torch.contiguous_format)
        # Memory of its own for each: users may resize a result, or change it in place.
        own = torch.empty(place.zeros, dtype=place.dtype, device=self.device)
        fills.append((own.data_ptr(), 0 if given is None or place.kind == "sum" else given.data_ptr(), own.nbytes))
        return own

    def _readable(self, x: torch.Tensor) -> torch.Tensor:
        """Return the tensor, contiguous, its leading dimensions all of full size or all 1."""
        lead = len(self.lead)
        if all(step == 0 or extent == 1 for step, extent in zip(x.stride()[:lead], x.shape[:lead], strict=True)):
            x = x[(slice(0, 1),) * lead]  # the elements are one
        elif tuple(x.shape[:lead]) != self.lead:
            x = x.expand(*self.lead, *x.shape[lead:])
        return x.contiguous()

    def _distance(self, x: Any) -> int:
        lead = len(self.lead)
        if not isinstance(x, torch.Tensor) or tuple(x.shape[:lead]) != self.lead:
            return 0
        return prod(x.shape[lead:]) * x.element_size()

    # --- entry points ---------------------------------------------------------------------------------

    def _points(self, inputs: Arrays) -> dict[tuple[int, int], torch.Tensor]:
        given = self.kernel.inputs
        return {(given[i], 0): self._viewed(given[i], inputs[i]) for i in self.kernel.arrays}

    def _inputs_part(self, values: Arrays, part: int) -> dict[tuple[int, int], torch.Tensor]:
        pairs = zip(self.kernel.inputs, values, strict=True)
        return {(arg, part): self._viewed(arg, x) for arg, x in pairs if x is not None}

    def _outputs_part(self, values: Arrays, part: int) -> dict[tuple[int, int], torch.Tensor]:
        pairs = zip(self.kernel.outputs, values, strict=True)
        return {(arg, part): self._viewed(arg, x) for arg, x in pairs if x is not None}

    def _outputs(self, entry: str, memory: dict[tuple[int, int], Any]) -> list[Any]:
        return [memory.get((arg, RESULT[entry])) for arg in self.kernel.outputs]

    def _gradients(self, entry: str, mask: int, memory: dict[tuple[int, int], Any]) -> list[Any]:
        results: list[Any] = []
        for i, arg in enumerate(self.kernel.inputs):
            if not mask >> i & 1:
                results.append(None)
                continue
            gradient, viewed, shape = memory[arg, RESULT[entry]], self.layout.viewed[i], self.layout.gradients[i]
            if gradient.shape != viewed:
                gradient = gradient.sum_to_size(viewed)
            results.append(gradient if viewed == shape else gradient.reshape(shape))
        return results

    def primal(self, inputs: Arrays) -> list[Any]:
        """Return the outputs."""
        return self._outputs("primal", self.run("primal", 0, self._points(inputs)))

    def vjp(self, inputs: Arrays, cotangents: Arrays, mask: int) -> list[Any]:
        """Return J^T v for the inputs in ``mask``, ``None`` for the others."""
        values = {**self._points(inputs), **self._outputs_part(cotangents, 1)}
        return self._gradients("vjp", mask, self.run("vjp", mask, values))

    def jvp(self, inputs: Arrays, tangents: Arrays, mask: int) -> list[Any]:
        """Return J t, one tensor an output, ``None`` for integers."""
        values = {**self._points(inputs), **self._inputs_part(tangents, 1)}
        return self._outputs("jvp", self.run("jvp", mask, values))

    def hvp(self, inputs: Arrays, cotangents: Arrays, tangents: Arrays, mask: int, wanted: int) -> list[Any]:
        """Return the change of J^T v along the tangents; ``mask`` has the inputs with a tangent too."""
        values = {**self._points(inputs), **self._outputs_part(cotangents, 1), **self._inputs_part(tangents, 2)}
        return self._gradients("hvp", wanted, self.run("hvp", mask, values))

    def jvp2(self, inputs: Arrays, tangents: Arrays, directions: Arrays, mask: int) -> list[Any]:
        """Return the change of J t along the directions."""
        values = {**self._points(inputs), **self._inputs_part(tangents, 1), **self._inputs_part(directions, 2)}
        return self._outputs("jvp2", self.run("jvp2", mask, values))


_OLDER_MAP = torch._C.DispatchKeySet(torch._C._dispatch_key_parse("VmapMode"))


class _Probe:
    """A call as the checks see it, all its derivatives with respect to the inputs in a mask."""

    def __init__(self, call: Call, mask: int) -> None:
        self.call, self.mask = call, mask
        # The user's own random numbers stay what they were.
        self.numbers = torch.Generator(device=call.device).manual_seed(20_230_517)

    def primal(self, inputs: Arrays) -> Arrays:
        return self.call.primal(inputs)

    def jvp(self, inputs: Arrays, tangents: Arrays) -> Arrays:
        return self.call.jvp(inputs, tangents, self.mask)

    def vjp(self, inputs: Arrays, cotangents: Arrays) -> Arrays:
        return self.call.vjp(inputs, cotangents, self.mask)

    def hvp(self, inputs: Arrays, cotangents: Arrays, tangents: Arrays) -> Arrays:
        return self.call.hvp(inputs, cotangents, tangents, self.mask, self.mask)

    def jvp2(self, inputs: Arrays, tangents: Arrays, directions: Arrays) -> Arrays:
        return self.call.jvp2(inputs, tangents, directions, self.mask)

    def random(self, like: Arrays) -> Arrays:
        numbers, device = self.numbers, self.call.device
        # The older map, of is_grads_batched=True, refuses random numbers; a check's are not the user's.
        with torch._C._ExcludeDispatchKeyGuard(_OLDER_MAP):
            return [
                None if x is None else torch.randn(x.shape, dtype=x.dtype, device=device, generator=numbers)
                for x in like
            ]

    def moved(self, inputs: Arrays, along: Arrays, step: float) -> Arrays:
        return [x if t is None else x + step * t for x, t in zip(inputs, along, strict=True)]

    def dot(self, a: Arrays, b: Arrays) -> tuple[float, float]:
        pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
        terms = [(x.double() * y.double()).flatten() for x, y in pairs]
        if not terms:
            return 0.0, 0.0
        joined = torch.cat(terms)
        return float(joined.sum()), float(joined.abs().sum())


_HERE: AbstractContextManager[Any] = nullcontext()


def _at(device: torch.device) -> AbstractContextManager[Any]:
    """Return the context in which a device is the current one."""
    if device.type != "cuda" or torch.cuda.current_device() == device.index:
        return _HERE
    return torch.cuda.device(device)


def _stream(device: torch.device) -> int:
    """Return the handle of the device's current stream, without an object around it."""
    handle: int = torch._C._cuda_getCurrentRawStream(device.index)
    return handle


def _prove(call: Call, order: str, mask: int, cotangents: Arrays | None = None) -> None:
    """Check the derivatives of a call, once: first ones, ``"second"`` ones, those of the forward mode ``"twice"``."""
    checks, kernel = call.kernel.checks, call.kernel
    batched = bool(call.lead)
    if not mask or not checks.needed((order, mask, batched)):
        return
    if torch.cuda.is_current_stream_capturing():
        raise kernel.unproven_in_capture()
    inputs, probe = call.inputs, _Probe(call, mask)
    wanted = [x if mask >> i & 1 else None for i, x in enumerate(inputs)]
    single = any(x is not None and x.dtype == torch.float32 for x in wanted)
    try:
        if order == "first":
            checks.first((order, mask, batched), probe, inputs, wanted, single)
            return
        _prove(call, "first", mask)
        like = [y if y is not None and y.is_floating_point() else None for y in call.primal(inputs)]
        if order == "second":
            checks.second((order, mask, batched), probe, inputs, wanted, like, single)
            return
        _prove(call, "second", mask)
        checks.forward_twice((order, mask, batched), probe, inputs, wanted, like, single)
    except RuntimeError as error:
        raise kernel.fault(error) or error from None


# --- the operators' kernels ---------------------------------------------------------------------------


def _call(spec: str, inputs: Tensors, batch: int, more: Tensors = ()) -> Call:
    return Call(kernel_of(spec), spec, inputs, batch, more)


def primal(inputs: Tensors, spec: str, batch: int = 0) -> list[Any]:
    """Return the outputs of a function."""
    call = _call(spec, inputs, batch)
    with _at(call.device):
        return call.primal(call.inputs)


def gradient(
    inputs: Tensors, cotangents: Arrays, spec: str, mask: int, batch: int = 0, more: Tensors = ()
) -> list[Any]:
    """Return J^T v of a function for the inputs in ``mask``, ``None`` for the others; ``None`` in the cotangents is zero.

    Parameters
    ----------
    more
        The cotangents that are there, for the size of the batch.
    """
    call = _call(spec, inputs, batch, more)
    with _at(call.device):
        _prove(call, "first", mask)
        return call.vjp(call.inputs, cotangents, mask)


def _primal(inputs: Tensors, spec: str, batch: int, expected: int) -> list[torch.Tensor]:
    return primal(inputs, spec, batch)


def _vjp(inputs: Tensors, given: Tensors, spec: str, batch: int, mask: int, cotangents: int) -> list[torch.Tensor]:
    kernel = kernel_of(spec)
    weights = unpack(given, cotangents, len(kernel.outputs))
    found = gradient(inputs, weights, spec, mask & kernel.differentiable, batch, given)
    return [x for x in found if x is not None]


def _jvp(inputs: Tensors, along: Tensors, spec: str, batch: int, tangents: int) -> list[torch.Tensor]:
    call = _call(spec, inputs, batch, along)
    given, mask = pack(unpack(along, tangents, len(inputs)), call.kernel.differentiable)
    with _at(call.device):
        _prove(call, "first", mask)
        return [y for y in call.jvp(call.inputs, unpack(given, mask, len(inputs)), mask) if y is not None]


def _hvp(
    inputs: Tensors, given: Tensors, along: Tensors, spec: str, batch: int, mask: int, cotangents: int, tangents: int
) -> list[torch.Tensor]:
    call = _call(spec, inputs, batch, (*given, *along))
    possible = call.kernel.differentiable
    mask, moving = mask & possible, tangents & possible
    with _at(call.device):
        _prove(call, "second", mask | moving)
        weights = unpack(given, cotangents, len(call.kernel.outputs))
        directions = unpack(along, tangents, len(inputs))
        changes = call.hvp(call.inputs, weights, directions, mask | moving, mask)
        return [x for x in changes if x is not None]


def _jvp2(
    inputs: Tensors, along: Tensors, directions: Tensors, spec: str, batch: int, tangents: int, turning: int
) -> list[torch.Tensor]:
    call = _call(spec, inputs, batch, (*along, *directions))
    mask = (tangents | turning) & call.kernel.differentiable
    with _at(call.device):
        _prove(call, "twice", mask)
        moved = unpack(along, tangents, len(inputs)), unpack(directions, turning, len(inputs))
        return [y for y in call.jvp2(call.inputs, *moved, mask) if y is not None]


OPERATORS: dict[str, Callable[..., Any]] = {"primal": _primal, "vjp": _vjp, "jvp": _jvp, "hvp": _hvp, "jvp2": _jvp2}
for _name, _operator in OPERATORS.items():
    LIBRARY.impl(_name, _operator, "CUDA")
