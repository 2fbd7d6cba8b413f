"""Finds the foreign function of an operator by the ``spec`` that the operator is called with.

The spec is JSON: what ``enzyme(...)`` was given, sources by absolute path, and the key of the manifest, so that an edited
source is another function. A program that was exported elsewhere brings specs that this process has not seen: their functions
are opened when first asked for.
"""

from __future__ import annotations

import json
from typing import Any

import torch

from ffgrad import _native
from ffgrad._core import Framework, Opened, open_given
from ffgrad._plan import Plan


def _dtype(name: str) -> torch.dtype:
    dtype: torch.dtype = getattr(torch, name)
    return dtype


def _allocate(shape: tuple[int, ...], dtype: str) -> torch.Tensor:
    return torch.empty(shape, dtype=_dtype(dtype))


TORCH = Framework(torch.Tensor, _allocate, _dtype)

_OPENED: dict[str, Opened] = {}


def register(opened: Opened) -> Opened:
    """Let operators call a function that was just opened; returns the one that they call for its spec."""
    if opened.spec not in _OPENED:
        opened.native.register(opened.spec)
        _OPENED[opened.spec] = opened
    return _OPENED[opened.spec]


def opened_with(spec: str) -> Opened:
    """Return the function behind a spec, opening it if this process has not met it."""
    if spec not in _OPENED:
        given = json.loads(spec)
        del given["key"]
        opened = open_given(TORCH, given)
        opened.native.register(spec)
        _OPENED[spec] = opened
    return _OPENED[spec]


def given_to(spec: str) -> dict[str, Any]:
    """Return what ``enzyme(...)`` was given: sources, function, signature, options."""
    given: dict[str, Any] = json.loads(spec)
    return given


def native_of(spec: str) -> _native.Function:
    """Return the opened function behind a spec."""
    return opened_with(spec).native


def plan_of(spec: str) -> Plan:
    """Return the plan of the function behind a spec."""
    return opened_with(spec).plan
