"""Rates of a predator-prey simulation in C++, fitted to counts of animals with Optax, all under jit.

Hares and lynxes were counted in six valleys, four times a year, by people who miscount by a fifth. The valleys differ in how many
animals there were at first; the four rates are the same. ``predators.cpp`` simulates one valley; ``vmap`` makes one
native call of the six, in which the gradient of the shared rates adds up. The training step, simulation included, is one
compiled XLA program, and training a ``lax.scan`` over it. At the end the Hessian of the same loss says how far the rates can be
trusted.

All data are made here, from a seed. The plot goes to ``examples/out/jax_predators.png``.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
import optax
from ffgrad.jax import enzyme

matplotlib.use("Agg")
from matplotlib import pyplot as plt

# The simulator computes in double precision.
jax.config.update("jax_enable_x64", True)

HERE = Path(__file__).resolve().parent
TIMES, VALLEYS, NOISE = 60, 6, 0.2  # counts, a quarter of a year apart
STEPS, DT = 5, 0.05
NAMES = ["birth", "hunting", "growth", "death"]
TRUTH = jnp.array([0.55, 0.028, 0.026, 0.84])
GUESS = jnp.array([1.0, 0.05, 0.05, 0.5])


def main() -> None:
    """Count, fit, judge, plot."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=500, help="steps of Adam (default: 500)")
    parser.add_argument("--out", type=Path, default=HERE.parent / "out", help="folder of the plot")
    options = parser.parse_args()
    defines, sizes = {"STEPS": STEPS, "DT": DT}, {"times": TIMES}
    simulator = enzyme(
        HERE / "predators.cpp", "populations", "start[2], rate[4] -> path[times,2]", defines=defines, sizes=sizes
    )
    simulate = jax.vmap(simulator.apply, in_axes=(0, None))
    starts = jnp.stack([jnp.linspace(15.0, 50.0, VALLEYS), jnp.linspace(40.0, 8.0, VALLEYS)], axis=1)
    rng = np.random.default_rng(1)
    counts = simulate(starts, TRUTH) * np.exp(NOISE * rng.normal(size=(VALLEYS, TIMES, 2)))

    def loss(logarithms: jax.Array) -> jax.Array:
        """Negative log-likelihood, up to a constant."""
        expected = simulate(starts, jnp.exp(logarithms))
        return 0.5 * jnp.sum((jnp.log(expected) - jnp.log(counts)) ** 2) / NOISE**2

    optimizer = optax.adam(optax.cosine_decay_schedule(0.03, options.steps))

    @jax.jit
    def train(logarithms: jax.Array) -> tuple[jax.Array, jax.Array]:
        def step(state: tuple, _: None) -> tuple[tuple, jax.Array]:
            logarithms, memory = state
            value, gradient = jax.value_and_grad(loss)(logarithms)
            updates, memory = optimizer.update(gradient, memory)
            return (optax.apply_updates(logarithms, updates), memory), value

        (fitted, _), losses = jax.lax.scan(step, (logarithms, optimizer.init(logarithms)), None, options.steps)
        return fitted, losses

    began = time.perf_counter()
    fitted, losses = jax.block_until_ready(train(jnp.log(GUESS)))
    seconds = time.perf_counter() - began
    # The curvature of the loss is the inverse of the covariance.
    errors = jnp.sqrt(jnp.diag(jnp.linalg.inv(jax.jit(jax.hessian(loss))(fitted))))
    for name, truth, rate, error in zip(NAMES, TRUTH, jnp.exp(fitted), errors, strict=True):
        print(f"{name:8s} {rate:.4f} +- {rate * error:.4f}   (made with {truth:.4f})")
    print(f"loss {losses[0]:.1f} -> {losses[-1]:.1f} in {options.steps} steps, {seconds:.1f} s with compilation")
    print(f"plot: {plot(counts, simulate(starts, jnp.exp(fitted)), losses, options.out)}")


def plot(counts: jax.Array, fitted: jax.Array, losses: jax.Array, folder: Path) -> Path:
    """Draw two valleys and the descent."""
    years = (1 + np.arange(TIMES)) * STEPS * DT
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), constrained_layout=True)
    for axis, valley in zip(axes, (0, VALLEYS - 1), strict=False):
        for animal, (name, colour) in enumerate([("hares", "tab:brown"), ("lynxes", "tab:green")]):
            axis.plot(years, counts[valley, :, animal], ".", color=colour, alpha=0.5)
            axis.plot(years, fitted[valley, :, animal], color=colour, label=name)
        axis.set(title=f"valley {valley + 1}", xlabel="years", ylabel="animals")
    axes[0].legend(frameon=False)
    axes[2].semilogy(losses)
    axes[2].set(title="negative log-likelihood", xlabel="step of Adam")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "jax_predators.png"
    figure.savefig(path, dpi=120)
    return path


if __name__ == "__main__":
    main()
