"""CUDA tensors: a kernel launched on PyTorch's current stream of the tensors' GPU.

The native half builds the PTX, loads it and launches; here memory is allocated by PyTorch (and so belongs to the stream's
order), every slot of the call plan gets an address, and autograd is told. Nothing waits for the GPU but the check at the
first derivative (see :meth:`Kernel.check`). It cannot run while a CUDA graph is captured: what is not proven by then is refused.

None of this has run on a GPU yet.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import torch

from ffgrad import _native
from ffgrad._torch.plans import DTYPES
from ffgrad.errors import DeviceError, DifferentiationError, DtypeError, GradientWarning, SignatureError

# Memory for what a derivative allocates: for each element of the first output, with these bounds.
_POOL_PER_ELEMENT, _POOL_LEAST, _POOL_MOST = 4096, 1 << 20, 1 << 30


def kernel(native: _native.Function, given: dict[str, Any]) -> Kernel | None:
    """Return the kernel of a function that stands in a ``.cu`` file."""
    if not str(given["sources"][0]).endswith((".cu", ".cuh")):
        return None
    return Kernel(native, given["options"].get("verify", "once"))


def concerns(inputs: tuple[Any, ...]) -> bool:
    """Return whether any input lies on a GPU."""
    return any(isinstance(x, torch.Tensor) and x.is_cuda for x in inputs)


class Kernel:
    """A kernel on GPUs; one a function."""

    def __init__(self, native: _native.Function, verify: str) -> None:
        manifest = json.loads(native.manifest())
        self.native = native
        self.function: str = manifest["prototype"]["function"]
        plan = manifest["plan"]
        self.args: list[dict[str, Any]] = plan["args"]
        self.inputs: list[int] = plan["inputs"]
        self.outputs: list[int] = plan["outputs"]
        self.dtypes = [DTYPES[arg["dtype"]] for arg in self.args]
        self.verify = verify
        self.proven: set[int] = set()

    def call(self, inputs: tuple[Any, ...]) -> Any:
        """Call the kernel; as ``Enzyme.apply``."""
        outputs = _OnGpu.apply(self, *self.tensors(inputs))
        return outputs if len(self.outputs) > 1 else outputs[0]

    def tensors(self, inputs: tuple[Any, ...]) -> list[Any]:
        """Check the inputs; numbers become what the parameter takes, others contiguous tensors of one GPU."""
        if len(inputs) != len(self.inputs):
            message = f"`{self.function}` takes {len(self.inputs)} inputs, {len(inputs)} were given"
            raise SignatureError(message, code="arity", function=self.function)
        device = next(x.device for x in inputs if isinstance(x, torch.Tensor) and x.is_cuda)
        return [self._input(arg, value, device) for arg, value in zip(self.inputs, inputs, strict=True)]

    def _input(self, arg: int, value: Any, device: torch.device) -> Any:
        name, dtype = self.args[arg]["name"], self.dtypes[arg]
        plain = self.args[arg]["passing"] == "value" and not dtype.is_floating_point
        if not isinstance(value, torch.Tensor):
            return int(value) if plain else torch.full((), value, dtype=dtype, device=device)
        if plain:
            raise DtypeError(
                f"`{name}` of `{self.function}` is an integer by value: on a GPU it must be a Python number\n"
                "  Reading it from a tensor would wait for the GPU. Give int(x).",
                code="dtype",
                function=self.function,
            )
        if value.device != device:
            raise DeviceError(
                f"the inputs of `{self.function}` lie on different devices\n"
                f"  expected `{name}` on {device}, as the first GPU tensor\n  found    {value.device}\n"
                f"  Move it before the call: x.to('{device}').",
                code="mixed-devices",
                function=self.function,
                expected=str(device),
                found=str(value.device),
            )
        if value.dtype != dtype:
            raise DtypeError(
                f"`{name}` of `{self.function}` has the wrong element type\n"
                f"  expected {dtype}\n  found    {value.dtype}\n"
                "  ffgrad never converts silently: convert the input before the call.",
                code="dtype",
                function=self.function,
                expected=str(dtype),
                found=str(value.dtype),
            )
        return value.contiguous()

    def shapes(self, inputs: tuple[Any, ...]) -> list[list[int]]:
        """Return the shapes of the inputs; numbers have none."""
        return [list(x.shape) if isinstance(x, torch.Tensor) else [] for x in inputs]

    def run(self, entry: str, mask: int, inputs: tuple[Any, ...], given: dict[int, Any]) -> dict[tuple[int, bool], Any]:
        """Launch an entry point.

        Parameters
        ----------
        entry
            ``"primal"``, ``"vjp"`` or ``"jvp"``.
        mask
            The inputs with a derivative, as bits.
        inputs
            As :meth:`tensors` returns them; not changed.
        given
            Shadows by argument, each contiguous. They are used as they are: those of outputs and of what is updated in
            place are consumed by the reverse mode, so the caller gives copies. The others are zeros.

        Returns
        -------
        dict
            The tensor of every argument and, with ``True``, of its shadow.
        """
        device = next(x.device for x in inputs if isinstance(x, torch.Tensor))
        shapes = self.native.shapes(self.shapes(inputs))
        memory: dict[tuple[int, bool], Any] = {}
        slots: list[int] = []
        for arg, shadow in self.native.slots(entry, mask):
            if shadow:
                value = given.get(arg)
            elif arg in self.inputs:
                value = inputs[self.inputs.index(arg)]
                value = value.clone() if self.args[arg]["role"] == "inout" else value
            else:
                value = 0 if self.args[arg]["role"] == "size" else None
            memory[arg, shadow] = value
        missing = [key for key, value in memory.items() if value is None]
        try:
            for arg, shadow in missing:
                memory[arg, shadow] = torch.zeros(shapes[arg], dtype=self.dtypes[arg], device=device)
            pool = self._pool(entry, shapes, device)
        except torch.cuda.OutOfMemoryError as error:
            raise self._too_large(entry, [arg for arg, _ in missing], shapes) from error
        for value in memory.values():
            slots.append(value.data_ptr() if isinstance(value, torch.Tensor) else value & (1 << 64) - 1)
        stream = torch.cuda.current_stream(device).cuda_stream
        target = (device.index or 0, stream, *((pool.data_ptr(), pool.numel()) if pool is not None else (0, 0)))
        self.native.launch(entry, mask, target, self.shapes(inputs), slots)
        return memory

    def _pool_size(self, entry: str, shapes: list[list[int]]) -> int:
        """Return the bytes that what a derivative allocates is taken from."""
        if entry == "primal":
            return 0
        elements = torch.Size(shapes[self.outputs[0]]).numel()
        return min(max(elements * _POOL_PER_ELEMENT, _POOL_LEAST), _POOL_MOST)

    def _pool(self, entry: str, shapes: list[list[int]], device: torch.device) -> torch.Tensor | None:
        size = self._pool_size(entry, shapes)
        return torch.empty(size, dtype=torch.uint8, device=device) if size else None

    def _too_large(self, entry: str, allocated: list[int], shapes: list[list[int]]) -> DeviceError:
        """Return the refusal of a call whose arrays do not fit, with what it needs."""
        arrays = sum(torch.Size(shapes[arg]).numel() * self.dtypes[arg].itemsize for arg in allocated)
        pool = self._pool_size(entry, shapes)
        what = "values" if entry == "primal" else f"derivative ({entry})"
        hint = "Free tensors on the device, or call the kernel on fewer elements."
        return DeviceError(
            f"the {what} of `{self.function}` need {_mebibytes(arrays + pool)} on the GPU, more than is free\n"
            f"  results and shadows {_mebibytes(arrays)}, memory for what the derivative keeps {_mebibytes(pool)}\n"
            f"  {hint}",
            code="out-of-memory",
            function=self.function,
            expected=f"{arrays + pool} bytes",
            hints=[hint],
        )

    def vjp(self, inputs: tuple[Any, ...], cotangents: tuple[Any, ...], mask: int) -> list[Any]:
        """Return J^T v for the inputs in ``mask``, ``None`` for the others; the cotangents are not changed."""
        given = {o: v.clone(memory_format=torch.contiguous_format) for o, v in _pairs(self.outputs, cotangents)}
        memory = self.run("vjp", mask, inputs, given)
        return [memory[arg, True] if mask >> i & 1 else None for i, arg in enumerate(self.inputs)]

    def jvp(self, inputs: tuple[Any, ...], tangents: tuple[Any, ...], mask: int) -> list[Any]:
        """Return J t, one tensor for each output, ``None`` for integers; the tangents are not changed."""
        given = {i: t.clone(memory_format=torch.contiguous_format) for i, t in _pairs(self.inputs, tangents)}
        memory = self.run("jvp", mask, inputs, given)
        return [memory.get((arg, True)) for arg in self.outputs]

    def check(self, inputs: tuple[Any, ...], mask: int) -> None:
        """Check <v, J t> = <J^T v, t> for random v and t, and coarsely differences, once for each set of inputs."""
        if self.verify == "off" or (mask in self.proven and self.verify != "always"):
            return
        if torch.cuda.is_current_stream_capturing():
            hint = "Compute the derivative once before the capture."
            raise DifferentiationError(
                f"the gradient of `{self.function}` is not proven yet, and cannot be while a CUDA graph is captured\n  {hint}",
                code="unproven-in-capture",
                function=self.function,
                hints=[hint],
            )
        tangents = tuple(torch.randn_like(x) if mask >> i & 1 else None for i, x in enumerate(inputs))
        forward = self.jvp(inputs, tangents, mask)
        cotangents = tuple(None if y is None else torch.randn_like(y) for y in forward)
        reverse = self.vjp(inputs, cotangents, mask)
        left, size_left = _dot(cotangents, forward)
        right, size_right = _dot(tangents, reverse)
        single = any(x.dtype == torch.float32 for x in (*tangents, *cotangents) if x is not None)
        scale = max(size_left, size_right)
        if not abs(left - right) <= (1e-3 if single else 1e-8) * scale:
            raise DifferentiationError(
                f"the gradient of `{self.function}` on the GPU is wrong: forward and reverse mode disagree\n"
                f"  expected <v, J t> = {left:.15g}\n  found    <J^T v, t> = {right:.15g}\n"
                "  The kernel may have a race: try it on CPU tensors, where threads run one after another.",
                code="wrong-gradient",
                function=self.function,
                expected=f"{left:.15g}",
                found=f"{right:.15g}",
            )
        if not self._compare(inputs, tangents, cotangents, left, scale, single):
            return
        # Zeros prove nothing for other arguments.
        if scale > 0:
            self.proven.add(mask)

    def _compare(self, inputs: Any, tangents: Any, cotangents: Any, found: float, scale: float, single: bool) -> bool:
        """Compare with central differences of several steps; one that agrees is enough, a kink needs none."""
        steps, tolerance = ((1e-2, 3e-3, 3e-2), 5e-2) if single else ((1e-5, 1e-6, 1e-4), 1e-3)
        estimates = []
        for h in steps:
            ends = [
                self.run("primal", 0, tuple(x if t is None else x + e * t for x, t in _both(inputs, tangents)), {})
                for e in (h, -h)
            ]
            values = [[end[arg, False] for arg in self.outputs] for end in ends]
            difference = (_dot(cotangents, values[0])[0] - _dot(cotangents, values[1])[0]) / (2 * h)
            if abs(difference - found) <= tolerance * max(scale, abs(difference)):
                return True
            estimates.append(difference)
        text = (
            f"the gradient of `{self.function}` on the GPU is doubtful at these arguments: forward and reverse mode agree "
            f"({found:.6e}), finite differences give {estimates[0]:.6e}. A kink, chaos or coarse precision can be the reason."
        )
        if self.verify == "strict" or scale == 0:
            raise DifferentiationError(text, code="unproven-gradient", function=self.function)
        warnings.warn(text, GradientWarning, stacklevel=2)
        return False


def _both(inputs: Any, tangents: Any) -> Any:
    return zip(inputs, tangents, strict=True)


def _mebibytes(count: int) -> str:
    return f"{count / (1 << 20):.1f} MiB"


def _pairs(args: list[int], shadows: tuple[Any, ...]) -> list[tuple[int, Any]]:
    return [(arg, shadow) for arg, shadow in zip(args, shadows, strict=True) if shadow is not None]


def _dot(a: Any, b: Any) -> tuple[float, float]:
    """Return the inner product and the sum of the absolute values of its terms."""
    terms = [(x.double() * y.double()).flatten() for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    if not terms:
        return 0.0, 0.0
    joined = torch.cat(terms)
    return float(joined.sum()), float(joined.abs().sum())


class _OnGpu(torch.autograd.Function):
    """One call on a GPU, as autograd sees it."""

    @staticmethod
    def forward(ctx: Any, kernel: Kernel, *inputs: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.kernel = kernel
        ctx.numbers = tuple(None if isinstance(x, torch.Tensor) else x for x in inputs)
        ctx.save_for_backward(*[x for x in inputs if isinstance(x, torch.Tensor)])
        ctx.save_for_forward(*[x for x in inputs if isinstance(x, torch.Tensor)])
        memory = kernel.run("primal", 0, inputs, {})
        outputs = tuple(memory[arg, False] for arg in kernel.outputs)
        ctx.mark_non_differentiable(*[y for y in outputs if not y.is_floating_point()])
        return outputs

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[Any, ...]:
        inputs = _saved(ctx)
        needs = ctx.needs_input_grad[1:]
        mask = sum(1 << i for i, need in enumerate(needs) if need) & ctx.kernel.native.differentiable
        ctx.kernel.check(inputs, mask)
        return (None, *ctx.kernel.vjp(inputs, cotangents, mask))

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: torch.Tensor | None) -> Any:
        inputs = _saved(ctx)
        mask = sum(1 << i for i, t in enumerate(tangents) if t is not None) & ctx.kernel.native.differentiable
        ctx.kernel.check(inputs, mask)
        return tuple(ctx.kernel.jvp(inputs, tangents, mask))


def _saved(ctx: Any) -> tuple[Any, ...]:
    saved = iter(ctx.saved_tensors)
    return tuple(next(saved) if number is None else number for number in ctx.numbers)
