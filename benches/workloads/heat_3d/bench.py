"""The linear heat equation in a block of 24 by 26 by 28 points, 80 steps, differentiated with respect to the initial state."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.problem import Function, Problem, rng
from harness.time_loop import compiled, looped

HERE = Path(__file__).resolve().parent
L, M, N, PAIRS = 24, 26, 28, 40


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    draw = rng("heat 3-D")
    yield Problem(
        name="heat 3-D",
        folder=HERE,
        source=HERE / "heat_3d.c",
        function="heat",
        signature="u[l,m,n], const k -> u[l,m,n]",
        inputs={"u": draw.normal(size=(L, M, N)), "k": 0.1},
        wrt=("u",),
        cotangents={"u_out": draw.normal(size=(L, M, N))},
        dims={"l": L, "m": M, "n": N, "pairs": PAIRS},
        primal="u k l m n pairs u_out",
        gradient="u k l m n pairs du_out du",
        torch=lambda: looped(_torch_step, 2 * PAIRS),
        compiled=lambda: compiled(_torch_step, 2 * PAIRS),
        jax=_jax,
        options={"sizes": {"pairs": PAIRS}},
    )


def _laplace(u: Any) -> Any:
    inner = u[1:-1, 1:-1, 1:-1]
    ahead = u[2:, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, 1:-1, 2:]
    behind = u[:-2, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, :-2]
    return ahead + behind - 6.0 * inner


def _torch_step(u: Any, k: Any) -> Any:
    import torch

    return u + k * torch.nn.functional.pad(_laplace(u), (1, 1, 1, 1, 1, 1))


def _jax() -> Function:
    import jax

    def heat(u: Any, k: Any) -> Any:
        return jax.lax.fori_loop(0, 2 * PAIRS, lambda _, u: u.at[1:-1, 1:-1, 1:-1].add(k * _laplace(u)), u)

    return heat
