"""Monte-Carlo value of an option, 2000 paths of 50 steps; four Greeks. PyTorch and JAX step all paths at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.problem import Function, Problem

HERE = Path(__file__).resolve().parent
PATHS, STEPS = 2000, 50
MULTIPLIER, INCREMENT, GOLDEN = 6364136223846793005, 1442695040888963407, 0x9E3779B97F4A7C15


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    inputs = {"spot": 100.0, "strike": 98.0, "rate": 0.03, "volatility": 0.2}
    yield Problem(
        name="Monte Carlo",
        folder=HERE,
        source=HERE / "monte_carlo.c",
        function="value",
        signature="spot, strike, rate, volatility -> return",
        inputs={name: np.array(value) for name, value in inputs.items()},
        wrt=tuple(inputs),
        cotangents={"return": np.float64(1.0)},
        dims={"paths": PATHS, "steps": STEPS},
        primal="spot strike rate volatility paths steps",
        gradient="spot strike rate volatility paths steps dspot dstrike drate dvolatility",
        torch=_torch,
        jax=_jax,
        options={"sizes": {"paths": PATHS, "steps": STEPS}},
    )


def _states() -> np.ndarray:
    """The generators' first states, as signed integers: both frameworks wrap around like C's unsigned ones."""
    return (np.arange(1, PATHS + 1, dtype=np.uint64) * np.uint64(GOLDEN)).view(np.int64)


def _torch() -> Function:
    import torch

    first = torch.from_numpy(_states())

    def uniform(state: Any) -> tuple[Any, Any]:
        state = state * MULTIPLIER + INCREMENT
        return state, (((state >> 11) & (2**53 - 1)).to(torch.float64) + 0.5) * 2.0**-53

    def value(spot: Any, strike: Any, rate: Any, volatility: Any) -> Any:
        dt = 1.0 / STEPS
        state, s = first, spot.expand(PATHS)
        lowest, total = s, torch.zeros_like(s)
        for _ in range(STEPS):
            state, u = uniform(state)
            state, v = uniform(state)
            normal = torch.sqrt(-2.0 * torch.log(u)) * torch.cos(6.283185307179586 * v)
            s = s * torch.exp((rate - 0.5 * volatility * volatility) * dt + volatility * dt**0.5 * normal)
            lowest = torch.where(s < lowest, s, lowest)
            total = total + s
        payoff = torch.relu(total / STEPS - strike) + torch.relu(strike - lowest)
        return torch.exp(-rate) * payoff.sum() / PATHS

    return value


def _jax() -> Function:
    import jax
    import jax.numpy as jnp

    first = _states()

    def uniform(state: Any) -> tuple[Any, Any]:
        state = state * MULTIPLIER + INCREMENT
        return state, (((state >> 11) & (2**53 - 1)).astype(jnp.float64) + 0.5) * 2.0**-53

    def value(spot: Any, strike: Any, rate: Any, volatility: Any) -> Any:
        dt = 1.0 / STEPS

        def step(_: Any, carry: Any) -> Any:
            state, s, lowest, total = carry
            state, u = uniform(state)
            state, v = uniform(state)
            normal = jnp.sqrt(-2.0 * jnp.log(u)) * jnp.cos(6.283185307179586 * v)
            s = s * jnp.exp((rate - 0.5 * volatility * volatility) * dt + volatility * dt**0.5 * normal)
            return state, s, jnp.where(s < lowest, s, lowest), total + s

        s = jnp.full(PATHS, spot)
        _, _, lowest, total = jax.lax.fori_loop(0, STEPS, step, (jnp.asarray(first), s, s, jnp.zeros(PATHS)))
        payoff = jax.nn.relu(total / STEPS - strike) + jax.nn.relu(strike - lowest)
        return jnp.exp(-rate) * payoff.sum() / PATHS

    return value
