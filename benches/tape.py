"""Recompute or tape? Forward and gradient in PyTorch with both modes, on functions whose forward sweep costs little or much.

.venv/bin/python benches/tape.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from ffgrad.torch import Enzyme, enzyme
from harness.fastest import microseconds

SOURCES = {
    "elementwise": "for (int i = 0; i < n; i++) y[i] = x[i] * sin(x[i]);",
    "time loop": """double* u = malloc(n * sizeof(double));
      for (int i = 0; i < n; i++) u[i] = x[i];
      for (int k = 0; k < 50; k++) for (int i = 0; i < n; i++) u[i] = u[i] + 0.01 * (x[i] - u[i] * u[i] * u[i]);
      for (int i = 0; i < n; i++) y[i] = u[i];
      free(u);""",
    "series": """for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = 1; k < 30; k++) s += sin(k * x[i]) / k;
        y[i] = s;
      }""",
}
SIGNATURE = "x[n] -> y[n]"


def step(f: Enzyme, x: torch.Tensor) -> Callable[[], object]:
    """Return a forward call and its gradient."""
    v = torch.ones_like(x)
    return lambda: torch.autograd.grad(f.apply(x), x, v)


def main() -> None:
    """Print a table."""
    print("| function | n | recompute, us | tape, us | tape holds, KiB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, body in SOURCES.items():
            source = Path(folder) / "f.c"
            head = "#include <math.h>\n#include <stdlib.h>\n"
            source.write_text(f"{head}void f(const double* x, int n, double* y) {{\n{body}\n}}\n")
            modes = [enzyme(source, "f", SIGNATURE, mode=mode) for mode in ("recompute", "tape")]
            for n in (16, 1000, 100_000):
                x = torch.rand(n, dtype=torch.float64, requires_grad=True)
                steps = dict(enumerate(step(f, x) for f in modes))
                times = microseconds(steps, 60, 20 if n < 10_000 else 1)
                held = modes[1].apply(x).grad_fn.tape.nbytes / 1024
                print(f"| {name} | {n} | {times[0]:.1f} | {times[1]:.1f} | {held:.0f} |")


if __name__ == "__main__":
    main()
