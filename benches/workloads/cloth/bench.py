"""The energy of a cloth of 60 by 80 points, differentiated with respect to the points and to the stiffness of its springs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.problem import Function, Problem, rng

HERE = Path(__file__).resolve().parent
M, N = 60, 80


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    draw = rng("cloth")
    flat = np.stack(np.meshgrid(np.arange(M), np.arange(N), [0.0], indexing="ij"), axis=-1).reshape(M, N, 3)
    yield Problem(
        name="cloth",
        folder=HERE,
        source=HERE / "cloth.c",
        function="cloth",
        signature="position[m,n,3], stiffness[2] -> return",
        inputs={"position": flat + draw.normal(scale=0.1, size=(M, N, 3)), "stiffness": np.array([50.0, 10.0])},
        wrt=("position", "stiffness"),
        cotangents={"return": np.float64(1.0)},
        dims={"m": M, "n": N},
        primal="position stiffness m n",
        gradient="position stiffness m n dposition dstiffness",
        torch=_torch,
        jax=_jax,
    )


def _energy(p: Any, k: Any, root: Any) -> Any:
    def springs(d: Any, rest: float) -> Any:
        return 0.5 * ((root((d * d).sum(-1)) - rest) ** 2).sum()

    along = springs(p[:, 1:] - p[:, :-1], 1.0) + springs(p[1:] - p[:-1], 1.0)
    return k[0] * along + k[1] * springs(p[1:, 1:] - p[:-1, :-1], 2.0**0.5)


def _torch() -> Function:
    import torch

    return lambda position, stiffness: _energy(position, stiffness, torch.sqrt)


def _jax() -> Function:
    import jax.numpy as jnp

    return lambda position, stiffness: _energy(position, stiffness, jnp.sqrt)
