"""An aquifer's map from pumping tests: an inverse problem through a model in FORTRAN 77, with COMMON, labels and GO TO.

Four wells are pumped one after the other, and gauges measure how far the water table falls. ``aquif.f`` computes that from the transmissivity
of each of 900 cells. SciPy finds the 900 numbers from the drawdown: L-BFGS on the misfit and a prior that wants neighbours to be alike.
The gradient costs a few runs of the model; finite differences would take 900. The measurements are made here, from a seed.

    python examples/aquifer/invert.py [--iterations 150] [--out FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import scipy.optimize
from ffgrad.numpy import enzyme

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).resolve().parent
CELLS, STEPS, NOISE = 30, 20, 0.005
CELL, DAYS = 50.0, 0.5  # as in the source's BLOCK DATA
# Cells counted from 1, as Fortran counts.
WELLS = np.array([[8, 8], [23, 9], [9, 22], [22, 22]], np.int32)
GAUGES = np.array([(i, j) for i in range(3, CELLS, 4) for j in range(3, CELLS, 4)], np.int32)
SIGNATURE = "t[nc,nr], iw[nw], jw[nw], const q[nw], io[no], jo[no] -> obs[no,nt]"


def truth() -> np.ndarray:
    """Return the logarithm of the transmissivity: sand, the gravel of an old river, a lens of clay."""
    i, j = np.meshgrid(np.arange(CELLS), np.arange(CELLS), indexing="ij")
    river = np.exp(-(((j - 14 - 6 * np.sin(i / 5)) / 3) ** 2))
    clay = np.exp(-(((i - 22) / 4) ** 2) - ((j - 20) / 3.5) ** 2)
    return np.log(60) + 1.6 * river - 1.9 * clay


def roughness(logs: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the sum of the squared differences of neighbours, and its gradient."""
    value, gradient = 0.0, np.zeros_like(logs)
    for axis in (0, 1):
        step = np.diff(logs, axis=axis)
        value += (step**2).sum()
        one, other = (slice(None, -1), slice(1, None))
        gradient[(one, slice(None)) if axis == 0 else (slice(None), one)] -= 2 * step
        gradient[(other, slice(None)) if axis == 0 else (slice(None), other)] += 2 * step
    return value, gradient


def main() -> None:
    """Measure, invert, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=150)
    parser.add_argument("--out", type=Path, default=HERE.parent / "out")
    arguments = parser.parse_args()
    model = enzyme(HERE / "aquif.f", "pump", SIGNATURE, sizes={"nt": STEPS})
    # One test a well: 400 m3 a day from that one, nothing from the others.
    tests = 400.0 * np.eye(len(WELLS))

    def drawdown(logs: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, Callable[..., tuple]]:
        # Fortran's order of memory: nothing is copied.
        return model.vjp(np.exp(logs).T.copy().T, *WELLS.T.copy(), rates, *GAUGES.T.copy())

    random = np.random.default_rng(0)
    seen = [drawdown(truth(), rates)[0] for rates in tests]
    seen = [clean + NOISE * random.standard_normal(clean.shape) for clean in seen]

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        logs = flat.reshape(CELLS, CELLS)
        value, gradient = roughness(logs)
        for rates, measured in zip(tests, seen, strict=True):
            level, pullback = drawdown(logs, rates)
            misfit = (level - measured) / NOISE
            of_t = pullback(misfit / NOISE)[0]
            value += (misfit**2).sum() / 2
            gradient = gradient + of_t * np.exp(logs)
        return value, gradient.ravel()

    start = np.full(CELLS * CELLS, np.log(60.0))
    found = scipy.optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", options={"maxiter": arguments.iterations, "maxcor": 20}
    )
    logs = found.x.reshape(CELLS, CELLS)
    misfits = np.concatenate([(drawdown(logs, r)[0] - s).ravel() / NOISE for r, s in zip(tests, seen, strict=True)])
    inner = (slice(3, -3), slice(3, -3))
    error = np.exp(np.abs(logs - truth())[inner].mean())
    print(f"{found.nfev} gradients in {found.nit} iterations")
    print(f"residuals {np.sqrt((misfits**2).mean()):.2f} times the noise; the map is right to a factor of {error:.2f}")
    curves = [drawdown(x, tests[-1])[0] for x in (logs, start.reshape(CELLS, CELLS))]
    draw(logs, seen[-1], curves, arguments.out)


def draw(logs: np.ndarray, seen: np.ndarray, curves: list[np.ndarray], out: Path) -> None:
    """Draw the true map, the map found, and the drawdown of the last test."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", width_ratios=(1, 1, 1.05))
    extent = (0, CELLS * CELL, 0, CELLS * CELL)
    bounds = {"vmin": 8, "vmax": 320}
    for axes, values, title in ((left, truth(), "truth"), (middle, logs, "found from the drawdown")):
        norm = matplotlib.colors.LogNorm(**bounds)
        image = axes.imshow(np.exp(values).T, origin="lower", extent=extent, norm=norm, cmap="viridis")
        axes.plot(*((GAUGES.T - 0.5) * CELL), ".", color="white", ms=4, label="gauge")
        axes.plot(*((WELLS.T - 0.5) * CELL), "v", color="#e2574c", mec="white", ms=9, label="well")
        axes.set(title=title, xlabel="m", ylabel="m" if axes is left else "")
    left.legend(loc="upper right", fontsize=8, facecolor="#6b7a8a", labelcolor="white")
    bar = figure.colorbar(image, ax=middle, label="transmissivity, m²/day", ticks=[10, 30, 100, 300])
    bar.ax.minorticks_off()
    bar.ax.set_yticklabels(["10", "30", "100", "300"])

    days = DAYS * np.arange(1, STEPS + 1)
    strongest = np.argsort(-seen[:, -1])[[0, 2, 4, 6]]
    fitted, guessed = curves
    for k, gauge in enumerate(strongest):
        color = f"C{k}"
        metres = np.hypot(*(GAUGES[gauge] - WELLS[-1])) * CELL
        right.plot(days, seen[gauge], ".", color=color, ms=5)
        right.plot(days, fitted[gauge], "-", color=color, label=f"{metres:.0f} m from the well")
        right.plot(days, guessed[gauge], ":", color=color, lw=1.4)
    for style, label in ((".", "measured"), ("-", "model, map found"), (":", "model, first guess")):
        right.plot([], [], style, color="black", label=label)
    right.set(title="the well in the clay is pumped", xlabel="days", ylabel="drawdown, m")
    right.set_ylim(top=1.45 * seen[strongest].max())
    right.legend(fontsize=7, loc="upper left", ncols=2)
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "aquifer.png", dpi=110)
    print(f"picture: {out / 'aquifer.png'}")


if __name__ == "__main__":
    main()
