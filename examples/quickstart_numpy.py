"""The gradient of a C function in NumPy, compared with its closed form: what `make try` runs.

``test.c`` has ``void f(float* inp, size_t n, float* out)`` with out = inp * sin(inp). It is compiled, differentiated and cached by
the first call; after that it is an ordinary function of arrays.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from ffgrad.numpy import enzyme

SOURCE = Path(__file__).resolve().parent / "test.c"


def main() -> None:
    """Print value, gradient and closed form; exit with an error if they disagree."""
    x = np.linspace(-2.0, 2.0, 5, dtype=np.float32)
    y, pullback = enzyme(SOURCE, "f").vjp(x)
    (gradient,) = pullback(np.ones_like(y))

    exact = np.sin(x) + x * np.cos(x)
    print("       x    x*sin(x)    gradient   closed form")
    for row in zip(x, y, gradient, exact, strict=True):
        print("{:8.3f} {:11.6f} {:11.6f} {:13.6f}".format(*row))

    error = float(np.abs(gradient - exact).max())
    print(f"largest difference from the closed form: {error:.1e}")
    if error > 1e-6:
        raise SystemExit("the gradient is wrong")


if __name__ == "__main__":
    main()
