"""Shared by the tests of CUDA kernels: the kernels of the conformance table, and a mock GPU that runs launches on the CPU."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from ffgrad._gpu import Description
from ffgrad._plan import DTYPES
from ffgrad._torch import cuda
from ffgrad._torch.plans import TORCH
from ffgrad.errors import ToolchainError
from ffgrad.torch import Enzyme, enzyme
from support.loader import FOLDER, Case, load_cases

CASES = list(load_cases(tags=["cuda"]))
KERNELS = FOLDER / "cuda"
GOLDENS = Path(__file__).resolve().parents[1] / "cuda" / "goldens"
# Kernels of which an instance is named.
TEMPLATES = """
namespace shapes {
template <typename T, int N> __device__ T power(T x) { T y = 1; for (int i = 0; i < N; i++) y *= x; return y; }
template <typename T, int N> __global__ void powers(const T *x, T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = power<T, N>(x[i]);
}
}
"""
on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


def opened(name: str, **options: Any) -> tuple[Enzyme, Case]:
    """Open a case of the table."""
    (case,) = load_cases(names=[f"cuda_{name}"])
    return enzyme(case.source, case.function, case.signature, **{**case.options, **options}), case


def inputs_of(case: Case, device: str = "cpu") -> list[Any]:
    """Draw the inputs of a case; integers without dimensions are numbers."""
    values = [torch.tensor(a, device=device) for a in case.make_inputs()]
    whole = [v.ndim == 0 and not v.is_floating_point() for v in values]
    return [
        int(v) if w else v.requires_grad_(item.differentiable)
        for v, w, item in zip(values, whole, case.inputs, strict=True)
    ]


def ptx_of(name: str, *entries: str, batched: int | None = None) -> tuple[str, list[str]]:
    """Return the PTX of a case's kernels and what ptxas says; skip where the tools for GPUs are not installed."""
    f, _ = opened(name)
    try:
        text, needs, _ = f._native.ptx(list(entries), f._native.differentiable, "sm_80", batched)
    except ToolchainError as error:
        assert "ffgrad toolchain install cuda" in str(error)
        pytest.skip(f"the CUDA tools are not installed: {error}")
    return text, needs


class StandIn:
    """A native function whose launches read and write the addresses they are given, by means of the CPU device.

    Attributes
    ----------
    launched : list of str
        The entry points, in order.
    batches : list of int
        How many elements each had; 0 without a batch.
    """

    def __init__(self, native: Any, broken: frozenset[str] = frozenset()) -> None:
        self.native = native
        self.about = Description(native)
        self.broken = broken
        self.launched: list[str] = []
        self.batches: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.native, name)

    def fill(self, device: int, stream: int, blocks: list[tuple[int, int, int]]) -> None:
        """Fill blocks: with a copy, or zeros."""
        for to, origin, count in blocks:
            if origin:
                ctypes.memmove(to, origin, count)
            else:
                ctypes.memset(to, 0, count)

    def launch(
        self,
        entry: str,
        mask: int,
        target: Any,
        shapes: list[list[int]],
        slots: list[int],
        batch: tuple[int, list[int]] | None = None,
    ) -> int:
        """Do on the CPU what the launch would do on the GPU; nothing for the broken entry points."""
        self.launched.append(entry)
        self.batches.append(batch[0] if batch else 0)
        if entry in self.broken:
            return 0
        count, distances = batch or (1, [0] * len(slots))
        for element in range(count):
            own = [slot + element * distance for slot, distance in zip(slots, distances, strict=True)]
            self.element(entry, mask, shapes, own)
        return 0

    def element(self, entry: str, mask: int, shapes: list[list[int]], slots: list[int]) -> None:
        """Do one element of a batch."""
        about, native = self.about, self.native
        at = dict(zip(native.slots(entry, mask), slots, strict=True))
        all_shapes = native.shapes(shapes)

        def tensor(arg: int, part: int = 0) -> torch.Tensor:
            dtype = TORCH.dtype(DTYPES[about.args[arg]["dtype"]])
            count = torch.Size(all_shapes[arg]).numel()
            memory = (ctypes.c_char * max(count * dtype.itemsize, 1)).from_address(at[arg, part])
            return torch.frombuffer(memory, dtype=dtype, count=count).view(all_shapes[arg])

        def of(args: list[int], part: int) -> tuple[torch.Tensor | None, ...]:
            return tuple(tensor(a, part).clone() if (a, part) in at else None for a in args)

        inputs = tuple(at[a, 0] if about.by_value(a) else tensor(a) for a in about.inputs)
        if entry == "primal":
            for arg, y in zip(about.outputs, native.primal(inputs, 0), strict=True):
                tensor(arg).copy_(torch.as_tensor(y))
        elif entry == "vjp":
            self._add(1, tensor, native.vjp(inputs, of(about.outputs, 1), mask))
        elif entry == "jvp":
            for arg, dy in zip(about.outputs, native.jvp(inputs, of(about.inputs, 1)), strict=True):
                if dy is not None:
                    tensor(arg, 1).copy_(torch.as_tensor(dy))
        elif entry == "hvp":
            self._add(3, tensor, native.hvp(inputs, of(about.outputs, 1), of(about.inputs, 2), mask))
        else:
            for arg, value in self._twice(inputs, of(about.inputs, 1), of(about.inputs, 2), mask):
                tensor(arg, 3).copy_(value.view(all_shapes[arg]))

    def _add(self, part: int, tensor: Any, gradients: Any) -> None:
        for arg, dx in zip(self.about.inputs, gradients, strict=True):
            if dx is not None:
                in_place = self.about.args[arg]["role"] == "inout"
                change = torch.as_tensor(dx)
                tensor(arg, part).copy_(change) if in_place else tensor(arg, part).add_(change)

    def _twice(self, inputs: Any, tangents: Any, directions: Any, mask: int) -> Iterator[tuple[int, torch.Tensor]]:
        """Return d(J t) along the directions, number by number: <v, d(J t)> = <t, H d>."""
        outputs = self.native.primal(inputs, 0)
        for position, (arg, y) in enumerate(zip(self.about.outputs, outputs, strict=True)):
            if not y.is_floating_point():
                continue
            value = torch.empty(y.numel(), dtype=y.dtype)
            for k in range(y.numel()):
                unit = torch.zeros(y.numel(), dtype=y.dtype)
                unit[k] = 1
                weights = tuple(unit.view(y.shape) if p == position else None for p in range(len(outputs)))
                changes = self.native.hvp(inputs, weights, directions, mask)
                value[k] = sum((h * t).sum() for h, t in zip(changes, tangents, strict=True) if h is not None)
            yield arg, value


@contextmanager
def gpu_stand_in(f: Enzyme, broken: frozenset[str] = frozenset(), verify: str = "once") -> Iterator[StandIn]:
    """Let the operators of CUDA tensors serve the CPU's, their launches done by the CPU device; give what was launched."""
    native = StandIn(f._native, broken)
    patch = pytest.MonkeyPatch()
    patch.setattr(cuda, "_stream", lambda _: 0)
    patch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    kernel = cuda.Kernel(native, verify)  # type: ignore[arg-type]
    patch.setitem(cuda._KERNELS, f._spec, kernel)
    library = torch.library.Library("ffgrad", "IMPL")  # type: ignore[no-untyped-call]
    for name, operator in cuda.OPERATORS.items():
        library.impl(name, operator, "CPU")
    try:
        yield native
    finally:
        library._destroy()  # type: ignore[no-untyped-call]
        patch.undo()
