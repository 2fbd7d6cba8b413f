"""A planet around another star, by Hamiltonian Monte Carlo on a likelihood in C.

A telescope has measured the speed of a star 60 times in a year. ``likelihood.c`` solves Kepler's equation and has the probability of
these numbers, given an orbit. Hamiltonian Monte Carlo needs its gradient in every step. The sampler below is thirty lines
of NumPy; the result is not one orbit, but all that the measurements allow. The data are made here, from a seed.

    python examples/exoplanet/sample.py [--samples 3000] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib
import numpy as np
import scipy.optimize
from ffgrad.numpy import enzyme

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).resolve().parent
TRUTH = np.array([np.log(58.0), np.log(34.0), 0.35, 0.25, 1.1, -4.0, np.log(2.0)])
START = np.array([np.log(58.6), np.log(30.0), 0.1, 0.1, 1.3, 0.0, 1.0])


def measurements(speeds) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return times in days, speeds and their errors in m/s."""
    random = np.random.default_rng(5)
    t = np.sort(random.uniform(0, 365, 60))
    error = random.uniform(1.5, 4.0, 60)
    noise = np.sqrt(error**2 + np.exp(2 * TRUTH[6])) * random.standard_normal(60)
    return t, speeds(TRUTH, t) + noise, error


def hamiltonian(density, start: np.ndarray, scale: np.ndarray, samples: int) -> tuple[np.ndarray, float]:
    """Sample a density whose logarithm and gradient are given; return the samples and how often a step was accepted."""
    random = np.random.default_rng(1)
    place, (value, gradient) = start, density(start)
    kept, accepted, step = [], 0, 0.2
    for i in range(samples + 500):
        momentum = random.standard_normal(len(start))
        before = value - momentum @ momentum / 2
        q, g = place, gradient
        size = step * random.uniform(0.8, 1.2)
        for _ in range(16):
            momentum = momentum + size / 2 * scale * g
            q = q + size * scale * momentum
            v, g = density(q)
            momentum = momentum + size / 2 * scale * g
            # What leaves the ellipse diverges. It is rejected, before its numbers overflow.
            if v - momentum @ momentum / 2 < before - 1000:
                break
        chance = min(1.0, np.exp(min(0.0, v - momentum @ momentum / 2 - before)))
        if random.uniform() < chance:
            place, value, gradient = q, v, g
            accepted += i >= 500
        if i < 500:
            # The step adapts until four of five are accepted, and then stays.
            step *= np.exp(0.05 * (chance - 0.8))
        else:
            kept.append(place)
    return np.array(kept), accepted / samples


def main() -> None:
    """Sample, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--out", type=Path, default=HERE.parent / "out")
    arguments = parser.parse_args()
    signature = "p[7], const t[n], const speed[n], const error[n] -> return"
    log_posterior = enzyme(HERE / "likelihood.c", "log_posterior", signature)
    speeds = enzyme(HERE / "likelihood.c", "speeds", "p[7], t[n] -> speed[n]")
    data = measurements(speeds)

    best = scipy.optimize.minimize(lambda p: [-x for x in log_posterior.value_and_grad(p, *data)], START, jac=True)
    # How far each parameter may move, by the Fisher information; the last one is the noise itself.
    variance = data[2] ** 2 + np.exp(2 * best.x[6])
    information = (speeds.jacobian(best.x, data[0]) ** 2 / variance[:, None]).sum(0)
    information[6] = 0.25 + 2 * (np.exp(4 * best.x[6]) / variance**2).sum()
    scale = 1 / np.sqrt(information)
    start = time.perf_counter()
    samples, accepted = hamiltonian(lambda p: log_posterior.value_and_grad(p, *data), best.x, scale, arguments.samples)
    seconds = time.perf_counter() - start
    print(f"{len(samples)} samples in {seconds:.1f} s, {accepted:.0%} of the steps accepted")
    orbits = {
        "period, days": (np.exp(samples[:, 0]), np.exp(TRUTH[0])),
        "amplitude, m/s": (np.exp(samples[:, 1]), np.exp(TRUTH[1])),
        "eccentricity": (np.hypot(samples[:, 2], samples[:, 3]), np.hypot(TRUTH[2], TRUTH[3])),
    }
    for name, (values, truth) in orbits.items():
        print(f"{name:15s} {values.mean():7.3f} +- {values.std():.3f}   (made with {truth:.3f})")
    draw(speeds, data, samples, orbits, arguments.out)


def draw(speeds, data, samples: np.ndarray, orbits: dict, out: Path) -> None:
    """Draw the measurements with forty orbits, and the parameters pair by pair."""
    figure = plt.figure(figsize=(12, 4.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.35, 1))
    axis = left.subplots()
    t = np.linspace(0, 365, 800)
    for i, p in enumerate(samples[:: max(1, len(samples) // 40)]):
        axis.plot(t, speeds(p, t), color="#1f5fa8", lw=0.5, alpha=0.35, label=None if i else "orbits that fit")
    noise = np.sqrt(data[2] ** 2 + np.exp(2 * samples[:, 6].mean()))
    axis.errorbar(data[0], data[1], noise, fmt="o", ms=3.5, color="#b83a3a", lw=1, label="measured")
    axis.set(xlabel="days", ylabel="speed of the star, m/s", xlim=(0, 365))
    axis.legend(loc="upper right", ncols=2)
    names = list(orbits)
    axes = right.subplots(3, 3)
    for i, row in enumerate(names):
        for j, column in enumerate(names):
            panel = axes[i, j]
            if j > i:
                panel.axis("off")
                continue
            (x, truth), (y, other) = orbits[column], orbits[row]
            if i == j:
                panel.hist(x, 40, color="#7db6f0")
                panel.set_yticks([])
            else:
                panel.plot(x, y, ".", ms=1, color="#1f5fa8", alpha=0.3)
                panel.axhline(other, color="#c98a12", lw=1)
            panel.axvline(truth, color="#c98a12", lw=1)
            panel.tick_params(labelsize=7)
            panel.set_xlabel(column if i == 2 else "", fontsize=8)
            panel.set_ylabel(row if j == 0 and i else "", fontsize=8)
    right.suptitle("what the measurements allow; orange: the truth", fontsize=10)
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "exoplanet.png", dpi=110)
    print(f"picture: {out / 'exoplanet.png'}")


if __name__ == "__main__":
    main()
