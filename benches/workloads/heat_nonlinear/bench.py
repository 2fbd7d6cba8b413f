"""The heat equation with a conductivity that depends on u, 1000 points and 1000 steps; gradients of the initial state and of k."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.problem import Function, Problem, rng
from harness.time_loop import compiled, looped

HERE = Path(__file__).resolve().parent
N, STEPS = 1000, 1000


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    draw = rng("heat nonlinear")
    yield Problem(
        name="heat nonlinear",
        folder=HERE,
        source=HERE / "heat_nonlinear.c",
        function="heat",
        signature="u[n], k -> u[n]",
        inputs={"u": draw.uniform(-1.0, 1.0, size=N), "k": np.array(0.1)},
        wrt=("u", "k"),
        cotangents={"u_out": draw.normal(size=N)},
        dims={"n": N, "steps": STEPS},
        primal="u k n steps u_out",
        gradient="u k n steps du_out du dk",
        torch=lambda: looped(_torch_step, STEPS),
        compiled=lambda: compiled(_torch_step, STEPS),
        jax=_jax,
        options={"sizes": {"steps": STEPS}},
    )


def _flux(u: Any) -> Any:
    middle = 0.5 * (u[1:] + u[:-1])
    return (1.0 + middle * middle) * (u[1:] - u[:-1])


def _torch_step(u: Any, k: Any) -> Any:
    import torch

    flux = _flux(u)
    return torch.cat([u[:1], u[1:-1] + k * (flux[1:] - flux[:-1]), u[-1:]])


def _jax() -> Function:
    import jax

    def heat(u: Any, k: Any) -> Any:
        def step(_: Any, u: Any) -> Any:
            flux = _flux(u)
            return u.at[1:-1].add(k * (flux[1:] - flux[:-1]))

        return jax.lax.fori_loop(0, STEPS, step, u)

    return heat
