"""What is known of the foreign function behind an operator, by the ``spec`` that the operator is called with.

The spec is JSON: what ``enzyme(...)`` was given, sources by absolute path, and the key of the manifest, so that an edited
source is another function. A program that was exported elsewhere brings specs that this process has not seen: their functions
are opened when first asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ffgrad import _native
from ffgrad._core import open_function

DTYPES = {"f32": torch.float32, "f64": torch.float64, "bool": torch.bool}
DTYPES |= {
    f"{name[0]}{width}": getattr(torch, f"{name}{width}") for name in ("int", "uint") for width in (8, 16, 32, 64)
}


def allocate(shape: tuple[int, ...], dtype: str) -> torch.Tensor:
    """Make a contiguous tensor for the native side."""
    return torch.empty(shape, dtype=getattr(torch, dtype))


class Plan:
    """A function's call plan as the operators need it.

    Attributes
    ----------
    function : str
        Its name.
    args, inputs, outputs
        As in the manifest's plan.
    input_dtypes, output_dtypes : list of torch.dtype
        Element types, in the order of inputs and outputs.
    differentiable : int
        Bit i is set where input i can have a gradient.
    floats : int
        Bit i is set where output i carries derivatives.
    sizes : dict
        The option of that name.
    """

    def __init__(self, native: _native.Function, sizes: Mapping[str, int]) -> None:
        manifest = native.plan()
        plan = manifest["plan"]
        self.function: str = manifest["prototype"]["function"]
        self.args: list[dict[str, Any]] = plan["args"]
        self.inputs: list[int] = plan["inputs"]
        self.outputs: list[int] = plan["outputs"]
        self.signature: str = plan["signature"]
        self.names: list[str] = [self.args[i]["name"] for i in self.inputs]
        self.input_dtypes = [DTYPES[self.args[i]["dtype"]] for i in self.inputs]
        self.output_dtypes = [DTYPES[self.args[i]["dtype"]] for i in self.outputs]
        self.differentiable: int = native.differentiable
        self.floats = sum(1 << i for i, dtype in enumerate(self.output_dtypes) if dtype.is_floating_point)
        self.sizes = dict(sizes)

    def scalar(self, position: int) -> bool:
        """Whether input ``position`` is a scalar."""
        arg = self.args[self.inputs[position]]
        return not arg["shape"] and not arg["flat"]


_PLANS: dict[str, Plan] = {}
_NATIVES: dict[str, _native.Function] = {}


def remember(native: _native.Function, given: Mapping[str, Any]) -> tuple[str, Plan]:
    """Return the spec and the plan of a function just opened with ``given``."""
    key = native.plan()["key"]
    spec = json.dumps({**given, "key": key}, sort_keys=True)
    if spec not in _PLANS:
        native.register(spec)
        _PLANS[spec] = Plan(native, given["options"].get("sizes", {}))
        _NATIVES[spec] = native
    return spec, _PLANS[spec]


def given_to(spec: str) -> dict[str, Any]:
    """Return what ``enzyme(...)`` was given: sources, function, signature, options."""
    given: dict[str, Any] = json.loads(spec)
    return given


def native_of(spec: str) -> _native.Function:
    """Return the opened function behind a spec."""
    plan_of(spec)
    return _NATIVES[spec]


def plan_of(spec: str) -> Plan:
    """Return the plan behind a spec, opening the function if this process has not met it."""
    if spec not in _PLANS:
        given = json.loads(spec)
        options = given["options"]
        native = open_function(given["sources"], given["function"], given["signature"], options, torch.Tensor, allocate)
        native.register(spec)
        _PLANS[spec] = Plan(native, options.get("sizes", {}))
        _NATIVES[spec] = native
    return _PLANS[spec]


def bits(mask: int) -> list[int]:
    """Return the positions of the bits that are set."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def pack(values: Sequence[Any], allowed: int) -> tuple[list[Any], int]:
    """Return the values that are there and allowed, and the mask of their positions."""
    mask = sum(1 << i for i, value in enumerate(values) if value is not None) & allowed
    return [values[i] for i in bits(mask)], mask


def unpack(values: Sequence[Any], mask: int, count: int) -> list[Any]:
    """Return the values at the positions of the mask, ``None`` elsewhere."""
    left = iter(values)
    return [next(left) if mask >> i & 1 else None for i in range(count)]
