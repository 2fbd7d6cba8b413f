"""What a call costs in NumPy on each path, at n = 16: the function, its derivatives, a Jacobian.

Each path beside the same written in NumPy by hand, derivatives included.

    python benches/numpy_paths.py [--quick]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ffgrad.numpy import Enzyme, enzyme
from harness.fastest import microseconds

N = 16
SOURCE = """\
#include <math.h>
void map(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * sin(x[i]); }
double sum(const double* x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * sin(x[i]); return s; }
"""


def paths(each: Enzyme, total: Enzyme) -> dict[str, dict[str, Callable[[], Any]]]:
    """Return one call of each path, by ffgrad and by hand."""
    x = np.linspace(-2.0, 2.0, N)
    v, slope, bend = np.ones(N), lambda: np.sin(x) + x * np.cos(x), lambda: 2 * np.cos(x) - x * np.sin(x)
    return {
        "call": {"ffgrad": lambda: each(x), "NumPy": lambda: x * np.sin(x)},
        "value_and_grad": {
            "ffgrad": lambda: total.value_and_grad(x),
            "NumPy": lambda: ((x * np.sin(x)).sum(), slope()),
        },
        "vjp and its pullback": {"ffgrad": lambda: each.vjp(x)[1](v), "NumPy": lambda: (x * np.sin(x), slope() * v)},
        "jvp": {"ffgrad": lambda: each.jvp(x, v), "NumPy": lambda: (x * np.sin(x), slope() * v)},
        "hessp": {"ffgrad": lambda: total.hessp(x, v), "NumPy": lambda: bend() * v},
        "jacobian": {"ffgrad": lambda: each.jacobian(x), "NumPy": lambda: np.diag(slope())},
        "hessian": {"ffgrad": lambda: total.hessian(x), "NumPy": lambda: np.diag(bend())},
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "paths.c"
        source.write_text(SOURCE)
        table = paths(enzyme(source, "map", "x[n] -> y[n]"), enzyme(source, "sum", "x[n] -> return"))
        for path, pair in table.items():
            np.testing.assert_allclose(_last(pair["ffgrad"]()), _last(pair["NumPy"]()), err_msg=path, atol=1e-12)
        functions = {(path, name): f for path, pair in table.items() for name, f in pair.items()}
        times = microseconds(functions, *((40, 20) if arguments.quick else (300, 50)))
    print(f"| µs a call, n = {N} | ffgrad | NumPy by hand |\n|---|--:|--:|")
    for path in table:
        print(f"| {path} | {times[path, 'ffgrad']:.1f} | {times[path, 'NumPy']:.1f} |")


def _last(result: Any) -> Any:
    """Return the derivative of what a path returns."""
    return _last(result[-1]) if isinstance(result, tuple) else result


if __name__ == "__main__":
    main()
