"""What the shapes of a call on a GPU determine: sizes of arrays, of batches, of gradients, and the slots of each entry point.

Python computes this more slowly than a GPU adds small arrays, so ``cuda.py`` keeps it for calls of the same shapes. Nothing here depends
on the values of integers, on strides or on devices: those are read at every call.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import torch

from ffgrad._gpu import Description
from ffgrad._plan import Plan
from ffgrad._torch.shapes import Shapes

Shape = tuple[int, ...]


class Place(NamedTuple):
    """A slot of an entry point, and the memory that it gets.

    Attributes
    ----------
    key : tuple of int
        Its argument and part.
    kind : str
        As ``_gpu.Slot``.
    position : int
        Of its argument among the inputs; -1 if it is none.
    zeros : tuple of int
        Shape of what is allocated where nothing is given.
    dtype : torch.dtype
        Its element type.
    """

    key: tuple[int, int]
    kind: str
    position: int
    zeros: Shape
    dtype: torch.dtype


class Layout:
    """The shapes of one call.

    Parameters
    ----------
    kernel, dtypes
        What is called, and the element types of its arguments.
    plan
        The function's.
    inputs, batch, more
        As :class:`ffgrad._torch.shapes.Shapes` takes them.

    Attributes
    ----------
    own : int
        Number of dimensions that a ``...`` stands for; they follow the mapped ones.
    lead, count : tuple of int, int
        Shape of the batch, and its number of elements.
    cores, shapes : list, tuple
        Shapes of one element: of the inputs, and of every argument.
    viewed, gradients : list of tuple
        Shapes of the inputs with every leading dimension, and of their gradients.
    """

    def __init__(
        self,
        kernel: Description,
        dtypes: Sequence[torch.dtype],
        plan: Plan,
        inputs: Sequence[Shape],
        batch: int,
        more: Sequence[Shape],
    ) -> None:
        self._kernel, self._dtypes, self._batch = kernel, dtypes, batch
        known = Shapes(plan, inputs, batch, more)
        self.own = len(known.own)
        self.lead: Shape = (*known.batch, *known.own)
        self.count = prod(self.lead)
        self.viewed = [self.view(arg, shape) for arg, shape in zip(kernel.inputs, inputs, strict=True)]
        self.cores = [list(shape[len(self.lead) :]) for shape in self.viewed]
        self.shapes: tuple[Shape, ...] = tuple(map(tuple, kernel.native.shapes(self.cores)))
        given = [shape[: len(shape) - len(core)] for shape, core in zip(inputs, self.cores, strict=True)]
        self.gradients: list[Shape] = [(*lead, *core) for lead, core in zip(given, self.cores, strict=True)]
        self._places: dict[tuple[str, int], tuple[int, list[Place]]] = {}

    def view(self, arg: int, shape: Shape) -> Shape:
        """Return a shape with every leading dimension: those of ``...`` stand behind the mapped ones, or are missing."""
        about, batch = self._kernel.args[arg], self._batch
        core = len(about["shape"]) if about["batched"] else len(shape) - batch
        missing = self.own - (len(shape) - batch - core)
        return (*shape[:batch], *[1] * missing, *shape[batch:])

    def places(self, entry: str, mask: int) -> tuple[int, list[Place]]:
        """Return the inputs to differentiate by on a GPU, to have it by those in a mask, and the slots of that entry point."""
        if (entry, mask) not in self._places:
            served = self._kernel.native.mask_on_gpu(entry, mask)
            slots = self._kernel.slots(entry, served)
            self._places[entry, mask] = served, [self._place(slot.arg, slot.part, slot.kind) for slot in slots]
        return self._places[entry, mask]

    def _place(self, arg: int, part: int, kind: str) -> Place:
        position = self._kernel.inputs.index(arg) if arg in self._kernel.inputs else -1
        core, once = self.shapes[arg], (1,) * len(self.lead)
        shared = kind == "given"
        if kind == "sum":
            # What is added to: one for all elements where they share the input, else one each.
            shared = all(extent == 1 for extent in self.viewed[position][: len(self.lead)])
        zeros = (*(once if shared else self.lead), *core)
        return Place((arg, part), kind, position, zeros, self._dtypes[arg])

    def bytes(self, places: Sequence[Place]) -> int:
        """Return what the arrays that a call allocates have."""
        allocated = [place.key[0] for place in places if place.kind in ("owned", "sum")]
        return sum(prod(self.shapes[arg]) * self.count * self._dtypes[arg].itemsize for arg in allocated)


class Layouts:
    """The layouts of a kernel's calls, by their shapes: so many that a program's own shapes fit, then again from the first."""

    MOST = 256

    def __init__(self, kernel: Description, dtypes: Sequence[torch.dtype]) -> None:
        self._kernel, self._dtypes = kernel, dtypes
        self._known: dict[tuple[Any, ...], Layout] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, plan: Plan, inputs: Sequence[torch.Tensor], batch: int, more: Sequence[torch.Tensor]) -> Layout:
        """Return the layout of a call; ``more`` are cotangents and tangents, which count for the size of a batch."""
        shapes = [x.shape for x in inputs]
        others = [x.shape for x in more] if batch else []
        key = (batch, *shapes, *others)
        found = self._known.get(key)
        if found is None:
            found = Layout(self._kernel, self._dtypes, plan, shapes, batch, others)
            if len(self._known) >= self.MOST:
                self._known.clear()
            self._known[key] = found
        return found
