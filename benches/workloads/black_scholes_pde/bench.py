"""An option's price by the Black-Scholes equation, 200 prices and 100 implicit steps; gradients of the payoff and of the volatilities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.problem import Function, Problem, rng

HERE = Path(__file__).resolve().parent
N, STEPS = 200, 100
RATE, DT = 0.03, 0.01


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    draw = rng("Black-Scholes PDE")
    yield Problem(
        name="Black-Scholes PDE",
        folder=HERE,
        source=HERE / "black_scholes_pde.c",
        function="price",
        signature="v[n], volatility[n], const rate, const dt -> v[n]",
        inputs={
            "v": np.maximum(np.arange(N) / N - 0.5, 0.0),
            "volatility": draw.uniform(0.1, 0.4, size=N),
            "rate": RATE,
            "dt": DT,
        },
        wrt=("v", "volatility"),
        cotangents={"v_out": draw.normal(size=N)},
        dims={"n": N, "steps": STEPS},
        primal="v volatility rate dt n steps v_out",
        gradient="v volatility rate dt n steps dv_out dv dvolatility",
        torch=_torch,
        jax=_jax,
        options={"sizes": {"steps": STEPS}},
    )


def _torch() -> Function:
    import torch

    i = torch.arange(1, N - 1, dtype=torch.float64)

    def price(v: Any, volatility: Any, rate: float, dt: float) -> Any:
        spread, drift = 0.5 * dt * (volatility[1:-1] * i) ** 2, 0.5 * dt * rate * i
        rim = torch.ones(1, dtype=torch.float64)
        middle = torch.cat([rim * (1.0 + rate * dt), 1.0 + rate * dt + 2.0 * spread, rim])
        nothing = torch.zeros(1, dtype=torch.float64)
        below, above = torch.cat([drift - spread, nothing]), torch.cat([nothing, -drift - spread])
        matrix = torch.diag(middle) + torch.diag(below, -1) + torch.diag(above, 1)
        factors, pivots = torch.linalg.lu_factor(matrix)
        for _ in range(STEPS):
            v = torch.linalg.lu_solve(factors, pivots, v[:, None])[:, 0]
        return v

    return price


def _jax() -> Function:
    import jax
    import jax.numpy as jnp

    i = np.arange(1, N - 1)

    def price(v: Any, volatility: Any, rate: float, dt: float) -> Any:
        spread, drift = 0.5 * dt * (volatility[1:-1] * i) ** 2, 0.5 * dt * rate * i
        middle = jnp.concatenate([jnp.array([1.0 + rate * dt]), 1.0 + rate * dt + 2.0 * spread, jnp.ones(1)])
        below = jnp.concatenate([jnp.zeros(1), drift - spread, jnp.zeros(1)])
        above = jnp.concatenate([jnp.zeros(1), -drift - spread, jnp.zeros(1)])

        def step(v: Any, _: None) -> tuple[Any, None]:
            return jax.lax.linalg.tridiagonal_solve(below, middle, above, v[:, None])[:, 0], None

        return jax.lax.scan(step, v, None, length=STEPS)[0]

    return price
