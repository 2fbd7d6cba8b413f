"""Molecular dynamics without a line of code for the forces: they are the gradient of an energy in C.

``forces.c`` has the energy of argon atoms in a round box and nothing else. NumPy moves the atoms by the velocity Verlet method with
forces that are minus its gradient. The gas is cooled slowly, condenses into drops, and freezes into crystals. Then the cooling ends, and
the total energy must stay constant: a sharp test of forces, since an error would heat or cool the atoms.

    python examples/argon/simulate.py [--atoms 169] [--steps 30000] [--out FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from ffgrad.numpy import enzyme

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).resolve().parent
REACH, STEP = 2.5, 0.004


def neighbours(place: np.ndarray) -> np.ndarray:
    """Return how many atoms each one touches: six in a crystal."""
    distance = np.hypot(*(place[:, None] - place[None]).transpose(2, 0, 1))
    return (distance < 1.45).sum(1) - 1


def main() -> None:
    """Simulate, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--atoms", type=int, default=169)
    parser.add_argument("--steps", type=int, default=30000)
    parser.add_argument("--out", type=Path, default=HERE.parent / "out")
    arguments = parser.parse_args()
    energy = enzyme(HERE / "forces.c", "energy", "place[n,2], const radius, const reach -> return")

    random = np.random.default_rng(3)
    side = int(np.ceil(np.sqrt(arguments.atoms)))
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 2), -1).reshape(-1, 2)[: arguments.atoms] - (side - 1) / 2
    place = 1.9 * grid + 0.1 * random.standard_normal(grid.shape)
    radius = 1.25 * side
    speed = random.standard_normal(place.shape)
    potential, gradient = energy.value_and_grad(place, radius, REACH)
    cooled = 2 * arguments.steps // 3
    pictures, rows = [], []
    for step in range(arguments.steps):
        speed -= STEP / 2 * gradient
        place += STEP * speed
        potential, gradient = energy.value_and_grad(place, radius, REACH)
        speed -= STEP / 2 * gradient
        if step < cooled:
            # The bath's temperature falls from 1 to 0.1 of the depth of the attraction.
            bath = 1 - 0.9 * step / cooled
            speed *= np.sqrt(1 + 0.01 * (bath / (speed**2).mean() - 1))
        rows.append((potential, (speed**2).sum() / 2))
        if step + 1 in (cooled // 40, cooled // 2, arguments.steps):
            pictures.append(place.copy())
    rows = np.array(rows) / arguments.atoms
    total = rows.sum(1)
    drift = np.ptp(total[cooled:]) / np.ptp(rows[cooled:, 1])
    print(
        f"energy per atom {total[0]:.3f} -> {total[-1]:.3f}; after the cooling the total varies by {drift:.1e} of its parts"
    )
    draw(pictures, rows, cooled, radius, arguments.out)


def draw(pictures: list[np.ndarray], rows: np.ndarray, cooled: int, radius: float, out: Path) -> None:
    """Draw the atoms at three times, coloured by their neighbours, and the energies."""
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.3), layout="constrained", width_ratios=(1, 1, 1, 1.25))
    times = [cooled // 40 * STEP, cooled // 2 * STEP, len(rows) * STEP]
    for axis, place, time, name in zip(axes, pictures, times, ("gas", "drops", "crystals"), strict=False):
        axis.add_patch(plt.Circle((0, 0), radius, fill=False, color="#5b6b7d"))
        shown = axis.scatter(*place.T, c=neighbours(place), cmap="viridis", vmin=0, vmax=6, s=26, edgecolor="none")
        axis.set(title=f"{name}, t = {time:.0f}", aspect="equal", xticks=[], yticks=[])
        axis.set_frame_on(False)
    figure.colorbar(shown, ax=axes[2], label="neighbours", shrink=0.8)
    time = STEP * np.arange(len(rows))
    for i, (name, colour) in enumerate((("potential", "#1f5fa8"), ("kinetic", "#b83a3a"))):
        axes[3].plot(time, rows[:, i], color=colour, lw=0.8, label=name)
    axes[3].plot(time, rows.sum(1), color="black", label="total")
    axes[3].axvspan(0, cooled * STEP, color="#cfe3f7", lw=0, label="cooled")
    axes[3].set(xlabel="time", ylabel="energy per atom", xlim=(0, time[-1]))
    axes[3].legend(fontsize=8)
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "argon.png", dpi=110)
    print(f"picture: {out / 'argon.png'}")


if __name__ == "__main__":
    main()
