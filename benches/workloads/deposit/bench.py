"""20000 particles on a grid of 64 by 64 points (cloud in cell), differentiated with respect to positions and charges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.problem import Function, Problem, rng

HERE = Path(__file__).resolve().parent
N, M = 20000, 64


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    draw = rng("deposit")
    # Away from the lines between cells, where the derivative jumps.
    inside = draw.integers(0, M - 1, size=(N, 2)) + draw.uniform(0.01, 0.99, size=(N, 2))
    yield Problem(
        name="deposit",
        folder=HERE,
        source=HERE / "deposit.c",
        function="deposit",
        signature="position[n,2], charge[n] -> density[m,m]",
        inputs={"position": inside, "charge": draw.normal(size=N)},
        wrt=("position", "charge"),
        cotangents={"density": draw.normal(size=(M, M))},
        dims={"n": N, "m": M},
        primal="position charge n m density",
        gradient="position charge n m ddensity dposition dcharge",
        torch=_torch,
        jax=_jax,
        options={"sizes": {"m": M}},
    )


def _torch() -> Function:
    import torch

    def deposit(position: Any, charge: Any) -> Any:
        x, y = position[:, 0], position[:, 1]
        i, j = x.detach().to(torch.int64), y.detach().to(torch.int64)
        right, up = x - i, y - j
        cell = j * M + i
        density = torch.zeros(M * M, dtype=position.dtype)
        for shift, weight in (
            (0, (1 - right) * (1 - up)),
            (1, right * (1 - up)),
            (M, (1 - right) * up),
            (M + 1, right * up),
        ):
            density = density.index_add(0, cell + shift, charge * weight)
        return density.reshape(M, M)

    return deposit


def _jax() -> Function:
    import jax.numpy as jnp

    def deposit(position: Any, charge: Any) -> Any:
        x, y = position[:, 0], position[:, 1]
        i, j = x.astype(int), y.astype(int)
        right, up = x - i, y - j
        cell = j * M + i
        density = jnp.zeros(M * M)
        for shift, weight in (
            (0, (1 - right) * (1 - up)),
            (1, right * (1 - up)),
            (M, (1 - right) * up),
            (M + 1, right * up),
        ):
            density = density.at[cell + shift].add(charge * weight)
        return density.reshape(M, M)

    return deposit
