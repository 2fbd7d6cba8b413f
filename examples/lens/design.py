"""A camera lens designs itself: gradients through a ray tracer written in C++.

``trace.cpp`` carries rays through six glass surfaces: Newton's method to meet each, Snell's law to leave it. The picture is sharp
where the rays of one direction meet in one point of the film. The loss is the spread of those points for four directions, and Adam bends
and shifts the surfaces, 23 numbers, until it is small. The start is a plain lens that a beginner would draw.

    python examples/lens/design.py [--steps 1500] [--out FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
import torch
from ffgrad.torch import enzyme

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).resolve().parent
# Crown, air, flint, air, crown, air behind the six surfaces; lengths are in units of 10 mm.
INDICES = torch.tensor([1.62, 1.0, 1.65, 1.0, 1.62, 1.0], dtype=torch.float64)
DEPTHS = torch.tensor([0.0, 0.45, 0.95, 1.15, 1.65, 2.1], dtype=torch.float64)
CURVATURES = torch.tensor([0.30, -0.05, -0.25, 0.25, 0.05, -0.30], dtype=torch.float64)
APERTURE, FOCAL = 0.62, 5.0
ANGLES = np.radians([0.0, 6.0, 11.0, 16.0])
COLOURS = ["#1f5fa8", "#2f8a4c", "#c98a12", "#b83a3a"]


def rays(angle: float, fan: bool) -> torch.Tensor:
    """Return parallel rays from one direction that fill the aperture: in a plane, or on rings."""
    if fan:
        points = [(0.0, h) for h in np.linspace(-APERTURE, APERTURE, 9)]
    else:
        rings = [(r * APERTURE, 6 * i) for i, r in enumerate((0.25, 0.5, 0.75, 1.0), 1)]
        points = [(0.0, 0.0)] + [
            (r * np.cos(a), r * np.sin(a)) for r, n in rings for a in np.linspace(0, 2 * np.pi, n, endpoint=False)
        ]
    # They cross the plane of the stop, in the middle of the lens, at these points.
    stop, start = 1.05, -1.2
    slope = np.tan(angle)
    rows = [(x, y + (start - stop) * slope, start, 0.0, np.sin(angle), np.cos(angle)) for x, y in points]
    return torch.tensor(rows, dtype=torch.float64)


def lens(free: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the surfaces and the film's depth that the free numbers stand for; all zero is the start."""
    curvatures = CURVATURES + 0.1 * free[:6]
    aspheric = torch.stack((0.01 * free[6:12], 0.01 * free[12:18]))
    # Glass and air keep a thickness: each gap is multiplied, never subtracted from.
    gaps = torch.diff(DEPTHS) * (0.5 * torch.tanh(free[18:23])).exp()
    depths = torch.cat((torch.zeros(1, dtype=torch.float64), gaps.cumsum(0)))
    return torch.stack((depths, curvatures, *aspheric), dim=1), depths[-1] + FOCAL


def spots(trace, free: torch.Tensor, bundles: list[torch.Tensor]) -> list[torch.Tensor]:
    """Return for each direction where its rays meet the film."""
    surfaces, film = lens(free)
    return [trace(surfaces, INDICES, film, bundle)[:, -1, :2] for bundle in bundles]


def spread(points: torch.Tensor) -> torch.Tensor:
    """Return the mean squared distance of points from their centre."""
    return ((points - points.mean(0)) ** 2).sum(1).mean()


def design(trace, steps: int) -> tuple[torch.Tensor, list[float]]:
    """Return the free numbers of the best lens, and the radius of its spots as they shrank."""
    bundles = [rays(angle, fan=False) for angle in ANGLES]
    # The lens is to stay a lens of this focal length: the picture's scale is fixed.
    heights = torch.from_numpy(FOCAL * np.tan(ANGLES))
    free, history = torch.zeros(23, dtype=torch.float64, requires_grad=True), []
    adam = torch.optim.Adam([free], lr=0.03)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps)
    for _ in range(steps):
        adam.zero_grad()
        on_film = spots(trace, free, bundles)
        sharp = sum(spread(points) for points in on_film)
        scale = sum((points[:, 1].mean() - height) ** 2 for points, height in zip(on_film, heights, strict=True))
        # The logarithm keeps the steps useful while the spots shrink a hundredfold.
        torch.log(sharp + 0.02 * scale).backward()
        adam.step()
        schedule.step()
        history.append(float((sharp.detach() / len(on_film)).sqrt()))
    return free.detach(), history


def draw(axes, spot_axes, trace, free: torch.Tensor, title: str) -> None:
    """Draw the lens with its rays, and beside it the spots on the film."""
    surfaces, film = lens(free)
    r = np.linspace(-0.95, 0.95, 101)
    depth, c, a, b = (surfaces[:, i : i + 1].numpy() for i in range(4))
    sags = depth + c * r**2 / (1 + np.sqrt(1 - c**2 * r**2)) + a * r**4 + b * r**6
    for i in (0, 2, 4):
        axes.fill(
            np.r_[sags[i], sags[i + 1][::-1]], np.r_[r, r[::-1]], facecolor="#cfe3f7", edgecolor="#5b6b7d", lw=0.8
        )
    for angle, colour in zip(ANGLES, COLOURS, strict=True):
        bundle = rays(angle, fan=True)
        path = torch.cat((bundle[:, None, :3], trace(surfaces, INDICES, film, bundle)), dim=1)
        axes.plot(path[:, :, 2].T, path[:, :, 1].T, color=colour, lw=0.6)
        points = trace(surfaces, INDICES, film, rays(angle, fan=False))[:, -1, :2]
        points = 1e4 * (points - points.mean(0))  # 10 mm in micrometres
        radius = (points**2).sum(1).mean().sqrt()
        spot_axes.plot(
            points[:, 0], points[:, 1], ".", ms=3, color=colour, label=f"{np.degrees(angle):.0f}°: {radius:.0f} µm"
        )
    axes.axvline(float(film), color="black", lw=1.5)
    axes.set(title=title, xlim=(-1.2, 8.2), ylim=(-1.6, 2.0), aspect="equal", xlabel="10 mm")
    spot_axes.set(aspect="equal", xlabel="µm", title="on the film")
    spot_axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def main() -> None:
    """Design, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--out", type=Path, default=HERE.parent / "out")
    arguments = parser.parse_args()
    signature = "surfaces[count,4], const indices[count], film, const rays[n,6] -> path[n,count+1,3]"
    trace = enzyme(HERE / "trace.cpp", "trace", signature)
    free, history = design(trace, arguments.steps)
    print(
        f"mean radius of a spot: {1e4 * history[0]:.0f} -> {1e4 * history[-1]:.1f} micrometres in {len(history)} steps"
    )

    figure, axes = plt.subplots(2, 2, figsize=(9, 4.9), layout="constrained", width_ratios=(3, 1.3))
    draw(axes[0, 0], axes[0, 1], trace, torch.zeros(23, dtype=torch.float64), "before")
    draw(axes[1, 0], axes[1, 1], trace, free, "after")
    arguments.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(arguments.out / "lens.png", dpi=110)
    print(f"picture: {arguments.out / 'lens.png'}")


if __name__ == "__main__":
    main()
