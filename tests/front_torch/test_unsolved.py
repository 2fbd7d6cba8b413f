"""A solver with the implicit function theorem's derivative that does not solve: an error in every transform of PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from ffgrad import implicit
from ffgrad.errors import DifferentiationError
from ffgrad.torch import enzyme
from torch.func import grad, hessian, jvp, vmap

SOURCE = """
double residual(double x, double p) { return x * x * x + x - p; }
double solve(double p, int steps) {
  double x = 1;
  for (int i = 0; i < steps; i++) x -= (x * x * x + x - p) / (3 * x * x + 1);
  return x;
}
void f(const double *p, int steps, double *y) { y[0] = solve(p[0], steps) * p[0]; }
"""
WORDS = "has not solved `residual` in this call"


@pytest.fixture
def f(tmp_path: Path) -> Any:
    """Return the opened function."""
    path = tmp_path / "root.c"
    path.write_text(SOURCE)
    return enzyme(path, "f", "p[1], steps -> y[1]", derivatives={"solve": implicit("residual")})


def test_every_transform_is_right_or_an_error(f: Any) -> None:
    """Eager, functional, compiled, twice differentiated, mapped."""
    p = torch.tensor([3.0], dtype=torch.float64)
    x = f(p, 60).item() / 3
    slope = 1 / (3 * x * x + 1)

    def total(p: torch.Tensor, steps: int) -> torch.Tensor:
        return f(p, steps).sum()

    calls = {
        "grad": lambda n: grad(total)(p, n),
        "jvp": lambda n: jvp(lambda q: f(q, n), (p,), (torch.ones_like(p),))[1],
        "vmap": lambda n: vmap(lambda q: grad(total)(q, n))(torch.stack([p, p]))[0],
        "eager": lambda n: torch.autograd.grad(total(q := p.clone().requires_grad_(), n), q)[0],
        "compiled": lambda n: torch.autograd.grad(torch.compile(total)(q := p.clone().requires_grad_(), n), q)[0],
    }
    for name, call in calls.items():
        assert torch.isclose(call(60), torch.tensor(3 * slope + x, dtype=torch.float64)), name
        with pytest.raises(DifferentiationError, match=WORDS):
            call(1)
    second = 2 * slope - 3 * 6 * x * slope**3
    assert torch.isclose(hessian(total)(p, 60).squeeze(), torch.tensor(second, dtype=torch.float64))
    with pytest.raises(DifferentiationError, match=WORDS):
        hessian(total)(p, 1)
