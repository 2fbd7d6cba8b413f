"""Which calls prove a gradient: none with only zeros, and under ``strict`` none with a doubtful check."""

from __future__ import annotations

import warnings
from pathlib import Path

import ffgrad
import pytest
import torch
from support.fixtures import Compile
from support.programs import CUBE

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


def test_strict_refuses_where_nothing_can_be_said(cache: Path, compile_source: Compile) -> None:
    """At NaN, in the first call and in one of a new size. A call with numbers still works."""
    cube = compile_source(CUBE, "cube", verify="strict")
    for size in (3, 4):
        bad = torch.full((size,), float("nan"), dtype=torch.float64, requires_grad=True)
        with pytest.raises(ffgrad.DifferentiationError, match="cannot be proven at these arguments") as caught:
            cube.apply(bad).sum().backward()
        assert caught.value.code == "unproven-gradient"
        assert len(choices(cache)) == (size == 4)
        x = torch.ones(size, dtype=torch.float64, requires_grad=True)
        cube.apply(x).sum().backward()
        assert x.grad is not None and x.grad.tolist() == [3.0] * size


def test_a_new_size_of_which_nothing_can_be_said_is_a_warning(cache: Path, compile_source: Compile) -> None:
    """One for each size; the call with numbers after it is checked without a warning."""
    cube = compile_source(CUBE, "cube")
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    cube.apply(x).sum().backward()
    bad = torch.full((4,), float("nan"), dtype=torch.float64, requires_grad=True)
    with pytest.warns(ffgrad.GradientWarning, match="not proven yet"):
        cube.apply(bad).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cube.apply(bad).sum().backward()
        x = torch.ones(4, dtype=torch.float64, requires_grad=True)
        cube.apply(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3.0] * 4


def test_a_doubtful_check_after_one_that_shows_nothing_settles(cache: Path, compile_source: Compile) -> None:
    """As at a first call: one warning, and the outcome is kept."""
    kink = compile_source(KINK, "kink")
    kink.apply(torch.empty(0, dtype=torch.float64, requires_grad=True)).sum().backward()
    assert choices(cache) == []
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    with pytest.warns(ffgrad.GradientWarning, match="doubtful") as caught:
        for _ in range(3):
            kink.apply(x).sum().backward()
    assert len(caught) == 1 and len(choices(cache)) == 1
