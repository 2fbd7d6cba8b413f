"""The constants of ``../warm_rain``, calibrated with JAX: Levenberg and Marquardt under ``jit``, with ``vmap`` over the parcels.

The Jacobian is forward mode's, mapped over its columns and over the three parcels in native loops; the slope at the end is reverse
mode's. See ``../warm_rain/calibrate.py`` for what is measured.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
from ffgrad.jax import enzyme

jax.config.update("jax_enable_x64", True)

SOURCES = Path(__file__).resolve().parent.parent / "warm_rain"
NAMES = ["autoconversion (1/s)", "threshold (kg/kg)", "accretion (1/s)", "evaporation (1/s)"]
TRUTH = jnp.array([1.0e-3, 5.0e-4, 2.2, 0.055])
GUESS = jnp.array([3.0e-4, 1.0e-3, 1.0, 0.02])
START = jnp.array([293.0, 0.0145])
UPDRAFTS, TIMES, INTERVAL, NOISE = jnp.array([2.0, 4.0, 6.0]), 15, 120.0, 0.1


def main() -> None:
    """Measure, calibrate, compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=12, help="steps of Levenberg and Marquardt (default: 12)")
    options = parser.parse_args()
    signature = "constants[4], const start[2], updraft, interval -> water[times,2]"
    warm_rain = enzyme(SOURCES, "warm_rain", signature, sizes={"times": TIMES})
    over_parcels = jax.vmap(lambda constants, updraft: warm_rain(constants, START, updraft, INTERVAL), (None, 0))

    def simulate(logarithms: jax.Array) -> jax.Array:
        return over_parcels(jnp.exp(logarithms), UPDRAFTS)

    clean = simulate(jnp.log(TRUTH))
    sigma = NOISE * (clean + 0.02)
    measured = clean + sigma * jax.random.normal(jax.random.key(2), clean.shape)

    def misfits(logarithms: jax.Array) -> jax.Array:
        return ((simulate(logarithms) - measured) / sigma).ravel()

    def loss(logarithms: jax.Array) -> jax.Array:
        return jnp.mean(misfits(logarithms) ** 2)

    @jax.jit
    def step(at: jax.Array, damping: jax.Array) -> tuple[jax.Array, jax.Array]:
        residual, jacobian = misfits(at), jax.jacfwd(misfits)(at)
        change = jnp.linalg.solve(jacobian.T @ jacobian + damping * jnp.eye(4), jacobian.T @ residual)
        better = loss(at - change) < loss(at)
        return jnp.where(better, at - change, at), jnp.where(better, damping / 5, damping * 5)

    at, damping = jnp.log(GUESS), jnp.array(1.0)
    before = loss(at)
    for _ in range(options.steps):
        at, damping = step(at, damping)
    slope = jnp.linalg.norm(jax.jit(jax.grad(loss))(at))
    for name, truth, constant in zip(NAMES, TRUTH, jnp.exp(at), strict=True):
        print(f"{name:21s} {constant:.3e}   (made with {truth:.3e})")
    print(f"mean squared misfit {before:.2f} -> {loss(at):.2f}, slope {slope:.1e}")


if __name__ == "__main__":
    main()
