"""Draw the README's figure of speed from a report in ``results/``: three rows, five ways to the same gradient.

.venv/bin/python benches/speed_figure.py [REPORT.md] [PICTURE.png]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

RESULTS = Path(__file__).parent / "results"
ROWS = {
    "heat nonlinear": "heat equation, 1000 steps",
    "n-body 256": "256 bodies",
    "GMM d20_K50": "Gaussian mixture (ADBench)",
}
COLUMNS = {"ffgrad": "ffgrad", "raw": "Enzyme alone", "jax": "JAX jit", "compile": "torch.compile", "eager": "PyTorch"}
COLOURS = {"ffgrad": "#1f5fa8"}


def ratios(report: str) -> dict[str, dict[str, float]]:
    """Return the table of times over those of the gradient by hand: row, column, ratio."""
    table = re.search(r"^## Gradient over the gradient by hand\n.*?(^\|.*?)\n\n", report, re.MULTILINE | re.DOTALL)
    assert table, "the report has no table of gradients over the gradient by hand"
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines()]
    head, rows = lines[0], lines[2:]
    return {
        row[0]: {name: float(cell.split()[0]) for name, cell in zip(head[2:], row[2:], strict=True)} for row in rows
    }


def main() -> None:
    """Draw."""
    newest = [path for path in sorted(RESULTS.glob("*.md")) if "improvements" not in path.name][-1]
    report = Path(sys.argv[1]) if len(sys.argv) > 1 else newest
    picture = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parents[1] / "docs/speed.png"
    found = ratios(report.read_text())
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 2.5), layout="constrained", sharey=True)
    for axis, (row, title) in zip(axes, ROWS.items(), strict=True):
        values = [found[row][column] for column in COLUMNS]
        bars = axis.barh(list(COLUMNS.values()), values, color=[COLOURS.get(c, "#b9c4d0") for c in COLUMNS], height=0.7)
        axis.bar_label(bars, [f"{value:.3g}" for value in values], padding=3, fontsize=9)
        axis.axvline(1, color="#b83a3a", lw=1.2)
        axis.set(title=title, xscale="log", xlim=(0.3, 4 * max(values)))
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].invert_yaxis()
    axes[1].set_xlabel("time of the gradient over that of one derived by hand (red line); less is better")
    figure.savefig(picture, dpi=110)
    print(f"{picture} from {report.name}")


if __name__ == "__main__":
    main()
