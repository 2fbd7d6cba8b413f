"""``constants={"name": array}``: the values of ``__constant__`` memory that only host code would fill."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ffgrad.errors import CompileError
from ffgrad.torch import enzyme
from torch.autograd import gradcheck

SOURCE = """
__constant__ double weights[2][3];
static __constant__ float offset;
namespace table { __constant__ int shift[2]; }
__global__ void k(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = offset;
  for (int r = 0; r < 2; r++)
    for (int c = 0; c < 3; c++) sum += weights[r][c] * x[(i + table::shift[r] + c) % n] * x[i];
  y[i] = sum;
}
int main() { cudaMemcpyToSymbol(weights, 0, 48); }
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The kernel in a file."""
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    return path


def expected(x: torch.Tensor, weights: np.ndarray, offset: float, shift: list[int]) -> torch.Tensor:
    """What the kernel computes."""
    parts = [weights[r, c] * x.roll(-(shift[r] + c)) * x for r in range(2) for c in range(3)]
    return sum(parts) + offset


def test_arrays_numbers_and_lists_are_values_of_constant_memory(source: Path) -> None:
    """By the variable's name, static or in a namespace too; gradients are those of the closed form."""
    x = torch.randn(7, dtype=torch.double, requires_grad=True)
    for factor in (1.0, 0.1):
        weights = factor * np.arange(1.0, 7.0).reshape(2, 3)
        constants = {"weights": weights, "offset": 0.5, "table::shift": [1, 3]}
        f = enzyme(source, "k", "x[n] -> y[n]", constants=constants)
        y = expected(x, weights, 0.5, [1, 3])
        assert torch.allclose(f(x), y)
        (given,) = torch.autograd.grad(f(x).square().sum(), x)
        assert torch.allclose(given, torch.autograd.grad(y.square().sum(), x)[0])
        assert gradcheck(f, (x,))


@pytest.mark.parametrize(
    ("constants", "words"),
    [
        ({}, 'constants={"weights": array}'),
        ({"weights": [1, 2], "offset": 1, "table::shift": [0, 0]}, "`weights` has 6 numbers, and 2 are given"),
        ({"weights": [1] * 6, "offset": 1, "table::shift": [0.5, 0]}, "0.5 is none of its type"),
        ({"weight": [1] * 6}, "`weight` is no `__constant__` variable"),
        ({"weight": [1] * 6}, "They use `offset`, `table::shift`, `weights`."),
    ],
)
def test_values_that_do_not_fit_are_refused(source: Path, constants: dict[str, Any], words: str) -> None:
    """Before anything is called."""
    with pytest.raises(CompileError, match=re.escape(words)) as error:
        enzyme(source, "k", "x[n] -> y[n]", constants=constants)
    assert error.value.code == "constant-memory"


def test_of_several_sources_each_may_have_the_variable(tmp_path: Path) -> None:
    """A name that none of them has is refused, with those that there are."""
    scaled, shifted = tmp_path / "scaled.cu", tmp_path / "shifted.cu"
    kernel = (
        "__constant__ double {0};\n__global__ void {1}(const double *x, double *y) {{ y[0] = {0} * x[0] * x[0]; }}\n"
    )
    scaled.write_text(kernel.format("factor", "scaled"))
    shifted.write_text(kernel.format("offset", "shifted"))
    f = enzyme([scaled, shifted], "scaled", "x[1] -> y[1]", constants={"factor": 3.0, "offset": 1.0})
    x = torch.tensor([2.0], dtype=torch.double, requires_grad=True)
    assert torch.autograd.grad(f(x).sum(), x)[0].item() == 12.0
    with pytest.raises(CompileError, match=r"`facto` is no .*\n.*They use `factor`, `offset`\.") as error:
        enzyme([scaled, shifted], "scaled", "x[1] -> y[1]", constants={"factor": 3.0, "offset": 1.0, "facto": 2.0})
    assert error.value.code == "constant-memory"


def test_a_function_that_is_no_kernel_has_no_constant_memory(tmp_path: Path) -> None:
    """With what a person meant instead."""
    file = tmp_path / "f.c"
    file.write_text("double f(double x, double k) { return k * x; }")
    with pytest.raises(
        CompileError, match=r"`constants` are .* of CUDA kernels.*\n.*in the call.*`sizes`.*`defines`"
    ) as error:
        enzyme(file, "f", constants={"k": 2.0})
    assert error.value.code == "constant-memory"
