"""The linear heat equation on a plate of 100 by 120 points, 200 steps, differentiated with respect to the initial state."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.problem import Function, Problem, rng
from harness.time_loop import compiled, looped

HERE = Path(__file__).resolve().parent
M, N, STEPS = 100, 120, 200


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    draw = rng("heat 2-D")
    yield Problem(
        name="heat 2-D",
        folder=HERE,
        source=HERE / "heat_2d.c",
        function="heat",
        signature="u[m,n], const k -> u[m,n]",
        inputs={"u": draw.normal(size=(M, N)), "k": 0.2},
        wrt=("u",),
        cotangents={"u_out": draw.normal(size=(M, N))},
        dims={"m": M, "n": N, "steps": STEPS},
        primal="u k m n steps u_out",
        gradient="u k m n steps du_out du",
        torch=lambda: looped(_torch_step, STEPS),
        compiled=lambda: compiled(_torch_step, STEPS),
        jax=_jax,
        options={"sizes": {"steps": STEPS}},
    )


def _laplace(u: Any) -> Any:
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]


def _torch_step(u: Any, k: Any) -> Any:
    import torch

    return u + k * torch.nn.functional.pad(_laplace(u), (1, 1, 1, 1))


def _jax() -> Function:
    import jax

    def heat(u: Any, k: Any) -> Any:
        return jax.lax.fori_loop(0, STEPS, lambda _, u: u.at[1:-1, 1:-1].add(k * _laplace(u)), u)

    return heat
