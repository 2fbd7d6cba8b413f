"""The parameters of the primitive: which derivative a bind computes, and which operands belong to which group.

In: values in groups. Out: a :class:`Call` and the operands in order, or the reverse. Neighbours: ``primitive.py`` (the rules),
``xla-ffi/src/op.rs`` (reads :meth:`Call.attribute`).
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ffgrad import _native
from ffgrad._closure import GRADIENTS
from ffgrad._core import Opened
from ffgrad._plan import bits, mask_of


class Foreign:
    """An opened function. Two of the same specification and the same sources are equal, so nothing is traced twice.

    Attributes
    ----------
    native : _native.Function
        The function.
    spec : str
        What names it in executables.
    name : str
        The function's name.
    plan : Plan
        Its call plan.
    inputs, outputs : list of str
        Names.
    input_dtypes, output_dtypes : list of numpy.dtype
        Element types.
    floats : int
        Outputs that carry derivatives, as a mask.
    """

    def __init__(self, opened: Opened) -> None:
        plan = opened.plan
        self.native, self.spec = opened.native, opened.spec
        self.name, self.plan = plan.function, plan
        self.inputs, self.outputs = plan.names, plan.output_names
        self.input_dtypes, self.output_dtypes = plan.input_dtypes, plan.output_dtypes
        self.scalars = [plan.scalar(i) for i in range(len(plan.inputs))]
        self.floats = plan.floats
        _native.xla_register(opened.native, opened.spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Foreign) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash(self.spec)

    def __repr__(self) -> str:
        return self.name


class Array(NamedTuple):
    """An operand, and whether it has the leading batch dimensions of its call.

    All arrays that have them have as many, each of the batch's size or 1. The others are shared by the whole batch.
    """

    value: Any
    mapped: bool


Group = dict[int, Array]


class Groups(NamedTuple):
    """The operands of a call, by position: inputs, cotangents of outputs, tangents and directions of inputs."""

    inputs: Group
    cotangents: Group
    tangents: Group
    directions: Group


@dataclass(frozen=True)
class Call:
    """What is computed.

    With x the inputs, v cotangents, t tangents, s directions: ``primal`` f(x), ``vjp`` J^T v, ``jvp`` J t, ``hvp`` d(J^T v)/dx t, ``jvp2`` d(J t)/dx s.

    Attributes
    ----------
    wanted : int
        Inputs whose gradient is a result (``vjp``, ``hvp``) or will be asked for (``primal``).
    present : tuple of int
        Positions of the operands of each group.
    mapped : tuple of int
        Which of them have batch dimensions.
    batch : tuple of int
        Sizes of the batch dimensions.
    separate : int
        Gradients for each element of the batch though the input is shared; otherwise the gradient of an input has the
        batch dimensions that the input has, and is summed over the rest.
    """

    foreign: Foreign
    kind: str
    wanted: int = 0
    present: tuple[int, int, int, int] = (0, 0, 0, 0)
    mapped: tuple[int, int, int, int] = (0, 0, 0, 0)
    batch: tuple[int, ...] = ()
    separate: int = 0
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = (self.foreign, self.kind, self.wanted, self.present, self.mapped, self.batch, self.separate)
        object.__setattr__(self, "_hash", hash(key))

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        over = f" over {list(self.batch)}" if self.batch else ""
        return f"{self.kind} of {self.foreign}{over}"

    @property
    def makes_gradients(self) -> bool:
        """Whether results belong to inputs, not to outputs."""
        return self.kind in GRADIENTS

    @property
    def results(self) -> list[int]:
        """Positions of the results, among the inputs or the outputs."""
        if self.makes_gradients:
            return bits(self.wanted)
        return bits(self.foreign.floats) if self.kind != "primal" else list(range(len(self.foreign.outputs)))

    @property
    def order(self) -> str:
        """Which derivatives have to be built."""
        return {"primal": "none", "vjp": "first", "jvp": "first", "hvp": "second", "jvp2": "forward"}[self.kind]

    @property
    def differentiated(self) -> int:
        """Inputs that take part in the derivative, as the driver builds it."""
        return self.wanted | self.present[2] | self.present[3]

    def places(self) -> list[tuple[int, int, bool]]:
        """Group, position and mappedness of each operand."""
        return [(group, i, bool(self.mapped[group] >> i & 1)) for group in range(4) for i in bits(self.present[group])]

    def split(self, operands: Sequence[Any]) -> Groups:
        """Sort operands, or what stands for them, into groups."""
        groups: Groups = Groups({}, {}, {}, {})
        for (group, i, mapped), operand in zip(self.places(), operands, strict=True):
            groups[group][i] = Array(operand, mapped)
        return groups

    @functools.lru_cache(maxsize=4096)  # noqa: B019  (calls live as long as what JAX has compiled of them)
    def attribute(self) -> str:
        """Return what the handler reads: a digest of the rest, then JSON."""
        inputs, cotangents, tangents, directions = self.mapped
        text = json.dumps(
            {
                "spec": self.foreign.spec,
                "kind": self.kind,
                "masks": {
                    "wanted": self.wanted,
                    "cotangents": self.present[1],
                    "tangents": self.present[2],
                    "directions": self.present[3],
                },
                "batch": {
                    "rank": len(self.batch),
                    "inputs": inputs,
                    "cotangents": cotangents,
                    "tangents": tangents,
                    "directions": directions,
                    "separate": self.separate,
                },
            },
            sort_keys=True,
        )
        return hashlib.sha256(text.encode()).hexdigest()[:16] + text


def make(
    foreign: Foreign,
    kind: str,
    groups: Groups,
    wanted: int = 0,
    batch: tuple[int, ...] = (),
    separate: int = 0,
) -> tuple[Call, list[Any]]:
    """Return the call and its operands in order."""
    present, mapped, operands = [], [], []
    for group in groups:
        present.append(mask_of(group))
        mapped.append(mask_of(i for i, array in group.items() if array.mapped))
        operands += [group[i].value for i in sorted(group)]
    call = Call(foreign, kind, wanted, tuple(present), tuple(mapped), batch, separate)  # type: ignore[arg-type]
    return call, operands
