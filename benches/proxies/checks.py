"""Is a gradient right? By the dot-product identity it is compared with forward mode, and that with finite differences, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
from competitors import cotangents, opened
from harness.problem import rng
from kernels import Kernel

STEPS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
"""Where values choose a path (a cell of a table, a cut-off), a large step goes over a kink for some elements, to one side or the other; a
small one loses digits. So each element is compared by all of them, central and one-sided."""


def faults(kernel: Kernel, gradients: list[np.ndarray], **options: Any) -> dict[str, float]:
    """Return how far a gradient is from forward mode, and forward mode from finite differences, in random directions.

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
        ``"identity"``, relative to the norms of gradient and direction, and ``"differences"``, relative to the norm of the
        tangents; the greatest over the inputs.
    """
    f = opened(kernel, **options)
    seeds = np.concatenate([s.reshape(-1) for s in cotangents(kernel)])
    inputs = list(kernel.inputs.values())
    worst = {"identity": 0.0, "differences": 0.0}
    for name, gradient in zip(kernel.active, gradients, strict=True):
        place = list(kernel.inputs).index(name)
        direction = rng(kernel.name + name).normal(size=gradient.shape) * np.maximum(np.abs(inputs[place]), 0.1)
        given = tuple(direction if i == place else None for i in range(len(inputs)))
        tangents = _flat(f.jvp(tuple(inputs), given)[1])
        scale = np.linalg.norm(gradient) * np.linalg.norm(direction)
        identity = abs(np.vdot(seeds, tangents) - np.vdot(gradient, direction)) / scale
        error, here = np.full(tangents.shape, np.inf), _flat(f(*inputs))
        for step in STEPS:
            up, down = (
                _flat(f(*(x + s * direction if i == place else x for i, x in enumerate(inputs)))) for s in (step, -step)
            )
            for slope in ((up - down) / (2 * step), (up - here) / step, (here - down) / step):
                error = np.minimum(error, np.abs(slope - tangents))
        differences = np.linalg.norm(error) / np.linalg.norm(tangents)
        worst = {
            "identity": max(worst["identity"], float(identity)),
            "differences": max(worst["differences"], float(differences)),
        }
    return worst


def _flat(values: Any) -> np.ndarray:
    values = values if isinstance(values, tuple) else (values,)
    return np.concatenate([np.asarray(v).reshape(-1) for v in values])
