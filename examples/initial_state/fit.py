"""Where did it begin? The initial state of a long nonlinear simulation, from what a few sensors saw of it.

A C function is one step; ffgrad runs the loop (``repeat``) and the gradient of all steps with the memory of a few states. SciPy's L-BFGS
fits the initial state. Draws it beside the true one, and what several numbers of snapshots cost: memory, measured over the time of one
gradient, or steps that run again.

    python fit.py [--size 64] [--steps 400] [--out folder]
    python fit.py --size 1000 --steps 10000 --iterations 2 --snapshots 20 100      # a million cells; some minutes an iteration
"""

from __future__ import annotations

import argparse
import ctypes
import resource
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import scipy.optimize
from ffgrad.numpy import Enzyme, enzyme

HERE = Path(__file__).resolve().parent
GROWTH, DIFFUSION, NOISE, SMOOTHNESS = 0.004, 0.2, 0.002, 0.003


def simulation(steps: int, snapshots: int) -> Enzyme:
    """Return the loop: initial state in, last state and the sensors' values at all steps out."""
    signature = (
        "c[rows,cols], const growth, const diffusion, sensor[sensors] -> c[rows,cols], seen[t,sensors]; above[cols]"
    )
    options: Any = {"repeat": "t", "sizes": {"t": steps}, "snapshots": snapshots}
    return enzyme(HERE / "spread.c", "spread", signature, **options)


def blobs(size: int) -> np.ndarray:
    """Return a state with three colonies."""
    y, x = np.mgrid[:size, :size] / size
    colony = [(0.3, 0.25, 0.07), (0.7, 0.6, 0.1), (0.25, 0.75, 0.05)]
    return sum(0.4 * np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * r**2)) for a, b, r in colony)


def roughness(state: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the sum of squared differences between neighbours, and its gradient: what is known of a state between the sensors."""
    down, across = np.diff(state, axis=0), np.diff(state, axis=1)
    gradient = np.zeros_like(state)
    gradient[1:] += 2 * down
    gradient[:-1] -= 2 * down
    gradient[:, 1:] += 2 * across
    gradient[:, :-1] -= 2 * across
    return float((down**2).sum() + (across**2).sum()), gradient


def memory_over_time(work: Callable[[], Any]) -> tuple[np.ndarray, np.ndarray]:
    """Run ``work``; return seconds, and the resident MiB of this process at each beyond those at the start."""
    page, rows, is_over = resource.getpagesize(), [], threading.Event()

    def resident() -> float:
        return int(Path("/proc/self/statm").read_text().split()[1]) * page / 2**20

    def watch() -> None:
        while not is_over.wait(0.01):
            rows.append((time.perf_counter() - start, resident() - base))

    ctypes.CDLL(None).malloc_trim(0)  # what earlier work has freed would be used again unseen
    base, start = resident(), time.perf_counter()
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        is_over.set()
        watcher.join()
    seconds, mib = np.array([(0.0, 0.0), *rows]).T
    return seconds, mib


def main() -> None:
    """Fit, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=64, help="cells along a side")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--iterations", type=int, default=120)
    parser.add_argument("--snapshots", type=int, nargs="+", default=[2, 5, 20, 100])
    parser.add_argument(
        "--measured-size", type=int, default=400, help="cells along a side where memory is measured, at least"
    )
    parser.add_argument("--out", type=Path, default=HERE.parent / "out", help="folder of the plot")
    options = parser.parse_args()
    size, steps = options.size, options.steps
    grid = np.linspace(0, size - 1, min(size // 4, 16)).astype(np.int32)
    sensor = (grid[:, None] * size + grid).ravel().astype(np.int32)
    run = simulation(steps, 20)
    rest = (GROWTH, DIFFUSION, sensor)
    true = blobs(size)
    seen = run(true, *rest)[1]
    seen = seen + NOISE * np.random.default_rng(0).standard_normal(seen.shape)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        state = flat.reshape(size, size)
        (_, values), pull = run.vjp(state, *rest)
        off = (values - seen) / (NOISE * seen.size**0.5)
        gradient = pull((None, 2 * off / (NOISE * seen.size**0.5)))[0]
        rough, by_state = roughness(state)
        return float((off**2).sum()) + SMOOTHNESS * rough, (gradient + SMOOTHNESS * by_state).ravel()

    guess = np.full((size, size), 0.05)
    first = loss(guess.ravel())[0]
    found = scipy.optimize.minimize(
        loss,
        guess.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, 1)] * size**2,
        options={"maxiter": options.iterations},
    )
    fitted = found.x.reshape(size, size)
    print(f"misfit {first:.2e} -> {found.fun:.2e} after {found.nit} iterations of {steps} steps")
    error = np.linalg.norm(fitted - true) / np.linalg.norm(true - guess)
    print(f"distance to the true initial state: {100 * error:.0f} % of the guess's")

    figure, (upper, lower) = plt.subplots(2, 2, figsize=(10.5, 8), layout="constrained")
    axes = (*upper, *lower)
    for axis, state, title in ((axes[0], true, "true initial state"), (axes[1], fitted, "fitted to the sensors")):
        figure.colorbar(axis.imshow(state, vmin=0, vmax=true.max()), ax=axis, label="density")
        axis.set_title(title)
    axes[0].plot(sensor % size, sensor // size, "w.", markersize=2, label="sensor")
    axes[0].legend(loc="upper right", facecolor="#30305a", labelcolor="white", fontsize=8)
    costs, large = [], blobs(max(size, options.measured_size))
    for count in options.snapshots:
        op = simulation(steps, count)
        op.vjp(large, *rest)[1]((large, None))
        pull = op.vjp(large, *rest)[1]
        axes[3].plot(*memory_over_time(lambda pull=pull: pull((large, None))), label=f"{count} snapshots")
        done = op.checkpointing()
        costs.append((done["peak_bytes"] / 2**20, done["forward"] / steps, done["snapshots"]))
        print(f"{costs[-1][2]:5} snapshots: {costs[-1][1]:.1f} forward runs a step, {costs[-1][0]:.1f} MiB")
    axes[3].set(
        title=f"memory of one gradient, {len(large)} × {len(large)} cells", xlabel="seconds", ylabel="MiB", yscale="log"
    )
    axes[3].legend()
    everything = large.nbytes * steps / 2**20
    memory, runs, counts = zip(*costs, strict=True)
    axes[2].semilogx(memory, runs, "o-", color="#1f5fa8", label="with snapshots")
    axes[2].plot(everything, 1, "s", color="#b83a3a", label="every state kept")
    for at, count in zip(zip(memory, runs, strict=True), counts, strict=True):
        axes[2].annotate(f"{count} snapshots", at, (6, 6), textcoords="offset points", fontsize=8)
    axes[2].set(title=f"one gradient of {steps} steps", xlabel="MiB", ylabel="forward runs of each step")
    axes[2].set(xlim=(0.6 * min(memory), 3 * everything), ylim=(0, 1.15 * max(runs)))
    axes[2].legend()
    options.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out / "initial_state.png", dpi=120)


if __name__ == "__main__":
    main()
