"""Monte-Carlo value of an option, 2000 paths of 50 steps; four Greeks. PyTorch and JAX step all paths at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
        torch=lambda: _torch(_torch_step),
        compiled=_compiled if quick else None,  # the whole, its 50 steps unrolled, takes minutes to compile
        jax=_jax,
        options={"sizes": {"paths": PATHS, "steps": STEPS}},
    )


def _states() -> np.ndarray:
    """The generators' first states, as signed integers: both frameworks wrap around like C's unsigned ones."""
    return (np.arange(1, PATHS + 1, dtype=np.uint64) * np.uint64(GOLDEN)).view(np.int64)


def _torch_uniform(state: Any) -> tuple[Any, Any]:
    state = state * MULTIPLIER + INCREMENT
    return state, (((state >> 11) & (2**53 - 1)).double() + 0.5) * 2.0**-53


def _torch_step(state: Any, s: Any, lowest: Any, total: Any, rate: Any, volatility: Any) -> tuple[Any, ...]:
    import torch

    dt = 1.0 / STEPS
    state, u = _torch_uniform(state)
    state, v = _torch_uniform(state)
    normal = torch.sqrt(-2.0 * torch.log(u)) * torch.cos(6.283185307179586 * v)
    s = s * torch.exp((rate - 0.5 * volatility * volatility) * dt + volatility * dt**0.5 * normal)
    return state, s, torch.where(s < lowest, s, lowest), total + s


def _torch(step: Callable[..., Any]) -> Function:
    import torch

    first = torch.from_numpy(_states())

    def value(spot: Any, strike: Any, rate: Any, volatility: Any) -> Any:
        s = spot.expand(PATHS)
        carry = (first, s, s, torch.zeros_like(s))
        for _ in range(STEPS):
            carry = step(*carry, rate, volatility)
        _, _, lowest, total = carry
        payoff = torch.relu(total / STEPS - strike) + torch.relu(strike - lowest)
        return torch.exp(-rate) * payoff.sum() / PATHS

    return value


def _compiled() -> Function:
    import torch

    return _torch(torch.compile(_torch_step, dynamic=False, fullgraph=True))


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
