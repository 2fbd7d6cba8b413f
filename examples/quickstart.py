"""The gradient of a C function in PyTorch, compared with its closed form.

``test.c`` has ``void f(float* inp, size_t n, float* out)`` with out = inp * sin(inp). It is compiled, differentiated and cached by
the first call; after that it is an ordinary operation.
"""

from __future__ import annotations

from pathlib import Path

import torch
from ffgrad.torch import enzyme  # `from torch_enzyme import enzyme` is the same function

SOURCE = Path(__file__).resolve().parent / "test.c"


def main() -> None:
    """Print value, gradient and closed form; exit with an error if they disagree."""
    x = torch.linspace(-2.0, 2.0, 5, requires_grad=True)
    y = enzyme(SOURCE, "f").apply(x)
    y.sum().backward()

    exact = torch.sin(x) + x * torch.cos(x)
    print("       x    x*sin(x)    gradient   closed form")
    for row in zip(x.tolist(), y.tolist(), x.grad.tolist(), exact.tolist(), strict=True):
        print("{:8.3f} {:11.6f} {:11.6f} {:13.6f}".format(*row))

    error = (x.grad - exact).abs().max().item()
    print(f"largest difference from the closed form: {error:.1e}")
    if error > 1e-6:
        raise SystemExit("the gradient is wrong")


if __name__ == "__main__":
    main()
