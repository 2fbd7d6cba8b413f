"""The report's pictures: gradient over hand by row, geometric means, cost against size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = {
    "hand": "#bbbbbb",
    "hand-fast": "#888888",
    "hand-vec": "#444444",
    "ffgrad": "#d62728",
    "ffgrad-fast": "#ff9896",
    "ffgrad-tuned": "#8c1515",
    "ffgrad-torch": "#f4a582",
    "raw": "#9467bd",
    "eager": "#ff7f0e",
    "compile": "#bcbd22",
    "jax": "#1f77b4",
}


def save(results: dict[str, Any], stem: Path) -> list[Path]:
    """Write the pictures that there is data for, as ``<stem>-*.png``, and return their paths.

    Raises
    ------
    ImportError
        Without matplotlib.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    machine = results["machine"]
    caption = f"{machine['cpu']}, {machine['date'][:10]}, ffgrad {machine['commit']}"
    written = []
    for name, draw in (("rows", _rows), ("sizes", _sizes)):
        figure = draw(results, pyplot)
        if figure is None:
            continue
        figure.supxlabel(caption, fontsize=7, color="#666666")
        path = stem.with_name(f"{stem.name}-{name}.png")
        figure.savefig(path, dpi=130)
        pyplot.close(figure)
        written.append(path)
    return written


def _rows(results: dict[str, Any], pyplot: Any) -> Any:
    rows = [row for row in results["rows"] if row["group"] == "suite" and "hand-fast" in row["columns"]]
    if not rows:
        return None
    names = [name for name in COLOURS if name != "hand-fast" and any(name in row["columns"] for row in rows)]
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.55 * len(rows)), layout="constrained")
    for place, row in enumerate(rows):
        for level, name in enumerate(names):
            entry = row["columns"].get(name)
            if entry is None or "over_hand" not in entry:
                continue
            height = place + 0.3 - 0.6 * level / max(1, len(names) - 1)
            marker = "x" if entry.get("wrong") else "o"
            axes.plot(
                entry["over_hand"],
                height,
                marker,
                color=COLOURS[name],
                markersize=5,
                label=name if place == 0 else None,
            )
        axes.axhline(place + 0.5, color="#dddddd", linewidth=0.6)
    axes.axvline(1.0, color="#888888", linewidth=1.0)
    axes.set(
        xscale="log", xlabel="time of the gradient / time of the gradient by hand (clang -O3 -march=native -ffast-math)"
    )
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axes.invert_yaxis()
    handles = [pyplot.Line2D([], [], marker="o", linestyle="", color=COLOURS[name], label=name) for name in names]
    figure.legend(handles=handles, loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    return figure


def _sizes(results: dict[str, Any], pyplot: Any) -> Any:
    rows = [row for row in results["rows"] if row["group"] == "scaling"]
    if not rows:
        return None
    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for name, colour in COLOURS.items():
        points = [(float(row["name"].split()[1]), row["columns"].get(name)) for row in rows]
        there = [(n, 1e9 * entry["gradient"]["median"] / n) for n, entry in points if entry and "gradient" in entry]
        if there:
            axes.plot(*zip(*there, strict=True), "o-", color=colour, markersize=4, label=name)
    axes.set(xscale="log", yscale="log", xlabel="elements", ylabel="ns per element and gradient")
    axes.set_title("y = sin(x) x + exp(-x²), double precision", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8)
    return figure
