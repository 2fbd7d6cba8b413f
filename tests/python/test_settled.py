"""What counts as proven: not a call that shows nothing, and under ``strict`` not a doubtful one."""

from __future__ import annotations

from pathlib import Path

import ffgrad
import pytest
import torch
from conftest import Compile
from programs import CUBE

# At 0 the derivative of |x| is a convention: finite differences say 0, both modes something else.
KINK = """\
void kink(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = x[i] >= 0 ? x[i] : -3 * x[i];
}
"""


def choices(cache: Path) -> list[Path]:
    """Outcomes of checks that were kept."""
    return list(cache.rglob("choice-*.json"))


def test_a_first_call_that_shows_nothing_proves_nothing(cache: Path, compile_source: Compile) -> None:
    """An empty array: the gradient is returned, and the next call is checked as if it were the first."""
    cube = compile_source(CUBE, "cube")
    empty = torch.empty(0, dtype=torch.float64, requires_grad=True)
    cube.apply(empty).sum().backward()
    assert empty.grad is not None and choices(cache) == []
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    cube.apply(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3.0] * 3
    assert len(choices(cache)) == 1


def test_strict_does_not_take_over_a_doubtful_outcome(cache: Path, compile_source: Compile) -> None:
    """Which another process, less strict, has kept."""
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    with pytest.warns(ffgrad.GradientWarning, match="doubtful"):
        compile_source(KINK, "kink").apply(x).sum().backward()
    assert len(choices(cache)) == 1
    strict = compile_source(KINK, "kink", verify="strict")
    with pytest.raises(ffgrad.DifferentiationError):
        strict.apply(x).sum().backward()
