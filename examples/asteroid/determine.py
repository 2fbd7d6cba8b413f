"""The orbit of a new asteroid, from directions alone: Gauss' problem with a Jacobian from C.

A telescope has seen a moving point on 16 nights, to half an arc second. It measures directions, no distances. ``orbit.c`` integrates
the motion; SciPy's least squares takes residuals and their exact Jacobian, and the same Jacobian says how sure the orbit is: narrow while the
asteroid was watched, wide where it was not. The observations are made here, from a seed.

    python examples/asteroid/determine.py [--nights 16] [--out FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
import scipy.optimize
from ffgrad.numpy import enzyme

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).resolve().parent
DAY = 0.01720209895
ARC_SECOND = np.pi / 180 / 3600
TRUTH = np.array([1.35, 0.75, 0.12, -0.0072, 0.0128, 0.0016])


def earth(times: np.ndarray) -> np.ndarray:
    """Return where Earth is: on a circle."""
    return np.stack((np.cos(DAY * times), np.sin(DAY * times), 0 * times), axis=1)


def main() -> None:
    """Observe, determine, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nights", type=int, default=16)
    parser.add_argument("--out", type=Path, default=HERE.parent / "out")
    arguments = parser.parse_args()
    signature = "start[6], const times[n], const earth[n,3] -> angles[n,2]; place[n,3]"
    directions = enzyme(HERE / "orbit.c", "directions", signature)
    places = enzyme(HERE / "orbit.c", "places", "start[6], const times[n] -> place[n,3]")

    random = np.random.default_rng(2)
    times = np.sort(random.uniform(0, 60, arguments.nights))
    error = 0.5 * ARC_SECOND
    seen = directions(TRUTH, times, earth(times)) + error * random.standard_normal((len(times), 2))

    def residuals(start: np.ndarray) -> np.ndarray:
        return ((directions(start, times, earth(times)) - seen) / error).ravel()

    def jacobian(start: np.ndarray) -> np.ndarray:
        return directions.jacobian(start, times, earth(times)).reshape(-1, 6) / error

    # The first guess: on the line of sight of the first night, at twice Earth's distance, on a circle.
    sight = np.array([np.cos(seen[0, 0]), np.sin(seen[0, 0]), np.tan(seen[0, 1])])
    place = earth(times[:1])[0] + 0.9 * sight
    radius = np.hypot(place[0], place[1])
    guess = np.r_[place, DAY / radius**1.5 * np.array([-place[1], place[0], 0])]
    found = scipy.optimize.least_squares(residuals, guess, jacobian, x_scale="jac", method="lm", max_nfev=300)
    covariance = np.linalg.inv(found.jac.T @ found.jac)
    chi = np.sqrt(2 * found.cost / (found.fun.size - 6))
    wrong = np.sqrt((found.x - TRUTH) @ np.linalg.solve(covariance, found.x - TRUTH))
    print(f"{found.nfev} calls; residuals {chi:.2f} times the errors of the observations")
    print(f"distance of the truth from the orbit found: {wrong:.1f} standard deviations in six dimensions")
    draw(places, times, guess, found.x, covariance, arguments.out)


def draw(places, times, guess: np.ndarray, found: np.ndarray, covariance: np.ndarray, out: Path) -> None:
    """Draw the orbits, and how the error of the place grows."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained", width_ratios=(1, 1.1))
    t = np.linspace(0, 1000, 500)
    circle = earth(np.linspace(0, 365.25, 200))
    left.plot(circle[:, 0], circle[:, 1], color="#7db6f0", label="Earth")
    left.plot(0, 0, "o", color="#ffc24a", ms=12, mec="#c98a12")
    for start, style in ((TRUTH, {"color": "black", "lw": 3, "label": "truth"}),):
        left.plot(*places(start, t)[:, :2].T, **style)
    left.plot(*places(guess, t)[:, :2].T, color="#b9c4d0", ls="--", label="first guess")
    left.plot(*places(found, t)[:, :2].T, color="#b83a3a", lw=1.2, label="found")
    sights, here = places(found, times), earth(times)
    for k in range(len(times)):
        left.plot(
            *np.stack((here[k, :2], sights[k, :2])).T, color="#2f8a4c", lw=0.6, label="" if k else "line of sight"
        )
    left.set(aspect="equal", xlabel="astronomical units", xlim=(-2.3, 3.3))
    left.legend(fontsize=8, loc="upper right")

    # The error of a place is that of the start, carried along by the Jacobian.
    jac = places.jacobian(found, t)
    spread = np.sqrt(np.einsum("tij,jk,tik->t", jac, covariance, jac)) * 1.496e8
    miss = np.linalg.norm(places(found, t) - places(TRUTH, t), axis=1) * 1.496e8
    right.semilogy(t, spread, color="#1f5fa8", label="standard deviation, by the Jacobian")
    right.semilogy(t, miss, color="#b83a3a", label="true error")
    right.axvspan(0, times[-1], color="#d9eedd", lw=0, label="observed")
    right.set(xlabel="days", ylabel="error of the place, km", xlim=(0, t[-1]))
    right.legend(fontsize=8)
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "asteroid.png", dpi=110)
    print(f"picture: {out / 'asteroid.png'}")


if __name__ == "__main__":
    main()
