"""A soap film in a bent wire: SciPy minimises an area that a C function computes.

Newton's method with Hessian-vector products (forward over reverse mode of the C function) compared with BFGS, which has the gradient
alone. Draws the film and the convergence of both.

    python film.py [--size 24] [--out folder]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.optimize
from ffgrad.numpy import enzyme

HERE = Path(__file__).resolve().parent


def wire(n: int) -> np.ndarray:
    """Return heights on an (n + 2)-square whose rim is the wire."""
    x, y = np.meshgrid(*[np.linspace(0, 1, n + 2)] * 2, indexing="ij")
    return 0.5 * np.sin(2 * np.pi * x) * (2 * y - 1) + 0.3 * np.cos(np.pi * y)


def main() -> None:
    """Solve, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=24, help="unknown heights along a side")
    parser.add_argument("--out", type=Path, default=HERE.parent / "out", help="folder of the plot")
    options = parser.parse_args()
    n = options.size
    area = enzyme(HERE / "area.c", "area", "u[n*n], const frame[n+2,n+2] -> return; z[(n+2)*(n+2)]")
    frame, start = wire(n), np.zeros(n * n)

    gaps: dict[str, list[float]] = {}
    results = {}
    for method, more in (("Newton-CG", {"hessp": area.hessp}), ("BFGS", {})):
        seen = [area(start, frame)]
        results[method] = scipy.optimize.minimize(
            area.value_and_grad,
            start,
            args=(frame,),
            jac=True,
            method=method,
            callback=lambda u, seen=seen: seen.append(area(u, frame)),
            **more,
        )
        gaps[method] = seen
        print(f"{method:9} area {results[method].fun:.6f} after {results[method].nit} iterations")
    film = min(results.values(), key=lambda r: r.fun)
    print(f"largest component of the gradient: {np.abs(area.grad(results['Newton-CG'].x, frame)).max():.1e}")

    figure = plt.figure(figsize=(10, 4.5), layout="constrained")
    axes = figure.add_subplot(1, 2, 1, projection="3d")
    heights = frame.copy()
    heights[1:-1, 1:-1] = film.x.reshape(n, n)
    x, y = np.meshgrid(*[np.linspace(0, 1, n + 2)] * 2, indexing="ij")
    axes.plot_surface(x, y, heights, cmap="viridis")
    axes.set(title="the film of least area, coloured by height", xlabel="x", ylabel="y", zlabel="height")
    axes = figure.add_subplot(1, 2, 2)
    for method, seen in gaps.items():
        axes.semilogy(np.maximum(np.array(seen) - film.fun, 1e-16), label=method)
    axes.set(title="area above the least", xlabel="iteration")
    axes.legend()
    options.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out / "soap_film.png", dpi=120)


if __name__ == "__main__":
    main()
