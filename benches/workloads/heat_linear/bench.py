"""The linear heat equation, 1000 points and 1000 steps, differentiated with respect to the initial state."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.problem import Function, Problem, rng
from harness.time_loop import compiled, looped

HERE = Path(__file__).resolve().parent
N, STEPS = 1000, 1000


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    draw = rng("heat linear")
    yield Problem(
        name="heat linear",
        folder=HERE,
        source=HERE / "heat_linear.c",
        function="heat",
        signature="u[n], const k -> u[n]",
        inputs={"u": draw.normal(size=N), "k": 0.25},
        wrt=("u",),
        cotangents={"u_out": draw.normal(size=N)},
        dims={"n": N, "steps": STEPS},
        primal="u k n steps u_out",
        gradient="u k n steps du_out du",
        torch=lambda: looped(_torch_step, STEPS),
        compiled=lambda: compiled(_torch_step, STEPS),
        jax=_jax,
        options={"sizes": {"steps": STEPS}},
    )


def _torch_step(u: Any, k: Any) -> Any:
    import torch

    inner = u[1:-1] + k * (u[:-2] - 2.0 * u[1:-1] + u[2:])
    return torch.cat([u[:1], inner, u[-1:]])


def _jax() -> Function:
    import jax

    def heat(u: Any, k: Any) -> Any:
        def step(_: Any, u: Any) -> Any:
            return u.at[1:-1].add(k * (u[:-2] - 2.0 * u[1:-1] + u[2:]))

        return jax.lax.fori_loop(0, STEPS, step, u)

    return heat
