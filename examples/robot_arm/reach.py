"""A robot arm with six joints plans a path between obstacles: SciPy minimises a cost in C++.

``arm.cpp`` has the arm's geometry with ``std::vector`` and a cost of a whole movement: 40 poses of six joints, described by 30
numbers. L-BFGS has the gradient from one call. The start is to stand still.

    python examples/robot_arm/reach.py [--poses 40] [--out FOLDER]
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
LENGTHS = np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5])
STAND = np.array([1.9, -0.1, -0.3, -0.2, 0.2, 0.2])
GOAL = np.array([2.9, 1.1])
OBSTACLES = np.array([[1.9, 3.1, 0.45], [1.6, 0.5, 0.4], [3.4, 2.2, 0.4], [2.6, -0.1, 0.4], [-0.9, 0.3, 0.35]])
MARGIN = 0.06


def main() -> None:
    """Plan, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--poses", type=int, default=40)
    parser.add_argument("--out", type=Path, default=HERE.parent / "out")
    arguments = parser.parse_args()
    signature = (
        "angles[poses,joints], const lengths[joints], const goal[2], const obstacles[count,3], const margin -> return"
    )
    cost = enzyme(HERE / "arm.cpp", "cost", signature)
    pose = enzyme(HERE / "arm.cpp", "pose", "angles[joints], lengths[joints] -> places[joints+1,2]")

    # Each joint moves evenly to its last angle, with four waves on top: smooth whatever the numbers are.
    time_ = np.linspace(0, 1, arguments.poses)[:, None]
    shapes = np.hstack((time_, *(np.sin(k * np.pi * time_) for k in range(1, 5))))

    def movement(free: np.ndarray) -> np.ndarray:
        return STAND + shapes @ free.reshape(5, -1)

    def objective(free: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = cost.value_and_grad(movement(free), LENGTHS, GOAL, OBSTACLES, MARGIN)
        return value, (shapes.T @ gradient).ravel()

    still = np.zeros(5 * len(STAND))
    start = time.perf_counter()
    found = scipy.optimize.minimize(objective, still, jac=True, method="L-BFGS-B", options={"maxiter": 600})
    seconds = time.perf_counter() - start
    path = movement(found.x)
    places = np.array([pose(angles, LENGTHS) for angles in path])
    gap = np.hypot(*(places[-1, -1] - GOAL))
    print(
        f"{found.nfev} gradients of {found.x.size} numbers in {seconds:.1f} s; cost {objective(still)[0]:.0f} -> {found.fun:.2f}"
    )
    print(f"the hand is {1000 * gap:.0f} mm from the goal; nearest obstacle {1000 * clearance(places):.0f} mm")
    draw(places, arguments.out)


def clearance(places: np.ndarray) -> float:
    """Return the smallest distance between a link and an obstacle, by many points on each link."""
    t = np.linspace(0, 1, 50)[:, None, None, None]
    points = ((1 - t) * places[None, :, :-1] + t * places[None, :, 1:]).reshape(-1, 2)
    distance = np.hypot(*(points[:, None] - OBSTACLES[None, :, :2]).transpose(2, 0, 1)) - OBSTACLES[:, 2]
    return float(distance.min())


def draw(places: np.ndarray, out: Path) -> None:
    """Draw the arm in several poses, from light to dark, with the path of the hand."""
    figure, axis = plt.subplots(figsize=(7.5, 5.2), layout="constrained")
    for i, (x, y, radius) in enumerate(OBSTACLES):
        axis.add_patch(plt.Circle((x, y), radius, color="#e5b8b8", label="_" if i else "obstacle"))
    shown = np.unique(np.linspace(0, len(places) - 1, 9).round().astype(int))
    for i in shown:
        share = i / (len(places) - 1)
        colour = plt.cm.Blues(0.25 + 0.7 * share)
        axis.plot(*places[i].T, "-o", color=colour, lw=2 + 2.5 * share, ms=5, zorder=2 + share)
    axis.plot(*places[:, -1].T, color="#c98a12", lw=1.5, label="path of the hand", zorder=4)
    axis.plot(*GOAL, "*", color="#2f8a4c", ms=16, label="goal", zorder=5)
    axis.plot(0, 0, "s", color="black", ms=10, label="foot")
    axis.set(aspect="equal", xlim=(-2.2, 4.2), ylim=(-1.0, 4.7), xlabel="m", ylabel="m")
    axis.legend(loc="upper right")
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "robot_arm.png", dpi=110)
    print(f"picture: {out / 'robot_arm.png'}")


if __name__ == "__main__":
    main()
