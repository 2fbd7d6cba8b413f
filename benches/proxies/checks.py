"""Is a gradient right? Against finite differences, and by the dot-product identity of the two modes."""

from __future__ import annotations

from typing import Any

import numpy as np
from competitors import cotangents, opened
from harness.problem import rng
from kernels import Kernel


def faults(kernel: Kernel, gradients: list[np.ndarray], **options: Any) -> dict[str, float]:
    """Return how far a gradient is from forward mode, and from central differences, in random directions.

    Parameters
    ----------
    kernel : Kernel
        The function, its inputs and its cotangents.
    gradients : list of ndarray
        To be checked, one for each active input.
    **options
        Of ``enzyme``, for the forward mode and the values.

    Returns
    -------
    dict of str to float
        ``"identity"`` and ``"differences"``, relative to the norms of gradient and direction, the greatest over the inputs.
    """
    f = opened(kernel, **options)
    seeds = cotangents(kernel)
    inputs = [np.asarray(x) if isinstance(x, np.ndarray) else x for x in kernel.inputs.values()]
    worst = {"identity": 0.0, "differences": 0.0}
    for name, gradient in zip(kernel.active, gradients, strict=True):
        place = list(kernel.inputs).index(name)
        direction = rng(kernel.name + name).normal(size=gradient.shape) * np.maximum(np.abs(inputs[place]), 0.1)
        scale = np.linalg.norm(gradient) * np.linalg.norm(direction)
        product = float(np.vdot(gradient, direction))
        _, tangents = f.jvp(tuple(inputs), tuple(direction if i == place else None for i in range(len(inputs))))
        worst["identity"] = max(worst["identity"], abs(_dot(seeds, tangents) - product) / scale)
        slope = _slope(f, inputs, place, direction, seeds)
        worst["differences"] = max(worst["differences"], min(abs(s - product) for s in slope) / scale)
    return worst


def _slope(f: Any, inputs: list[Any], place: int, direction: np.ndarray, seeds: list[np.ndarray]) -> list[float]:
    """Return central differences by several steps: where values choose a path (a cell of a table, a cut-off) larger ones step over kinks."""
    slopes = []
    for step in (1e-5, 1e-6, 1e-7, 1e-8, 1e-9):
        ends = []
        for sign in (1, -1):
            moved = [x + sign * step * direction if i == place else x for i, x in enumerate(inputs)]
            ends.append(f(*moved))
        slopes.append(_dot(seeds, _difference(*ends)) / (2 * step))
    return slopes


def _difference(a: Any, b: Any) -> Any:
    return tuple(x - y for x, y in zip(a, b, strict=True)) if isinstance(a, tuple) else a - b


def _dot(seeds: list[np.ndarray], values: Any) -> float:
    values = values if isinstance(values, tuple) else (values,)
    return sum(float(np.vdot(s, v)) for s, v in zip(seeds, values, strict=True))
