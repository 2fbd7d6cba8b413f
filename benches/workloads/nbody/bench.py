"""Energy of 256 gravitating bodies, differentiated with respect to positions, velocities and masses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.problem import Function, Problem, rng

HERE = Path(__file__).resolve().parent
N = 256
SOFTENING = 1e-2


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    draw = rng("n-body 256")
    yield Problem(
        name="n-body 256",
        folder=HERE,
        source=HERE / "nbody.cpp",
        function="energy",
        signature="position[n,3], velocity[n,3], mass[n] -> return",
        inputs={
            "position": draw.normal(size=(N, 3)),
            "velocity": draw.normal(size=(N, 3)),
            "mass": draw.uniform(0.5, 2.0, size=N),
        },
        wrt=("position", "velocity", "mass"),
        cotangents={"return": np.float64(1.0)},
        dims={"n": N},
        primal="position velocity mass n",
        gradient="position velocity mass n dposition dvelocity dmass",
        torch=_torch,
        jax=_jax,
    )


def _torch() -> Function:
    import torch

    row, column = torch.tril_indices(N, N, -1)

    def energy(position: Any, velocity: Any, mass: Any) -> Any:
        d = position[row] - position[column]
        pairs = mass[row] * mass[column] / torch.sqrt((d * d).sum(1) + SOFTENING)
        return 0.5 * (mass * (velocity * velocity).sum(1)).sum() - pairs.sum()

    return energy


def _jax() -> Function:
    import jax.numpy as jnp

    row, column = np.tril_indices(N, -1)

    def energy(position: Any, velocity: Any, mass: Any) -> Any:
        d = position[row] - position[column]
        pairs = mass[row] * mass[column] / jnp.sqrt((d * d).sum(1) + SOFTENING)
        return 0.5 * (mass * (velocity * velocity).sum(1)).sum() - pairs.sum()

    return energy
