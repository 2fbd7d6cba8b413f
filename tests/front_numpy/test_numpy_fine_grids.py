"""Verification of functions that interpolate in fine tables: differences that step over cells raise no warning."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from ffgrad.errors import GradientWarning
from ffgrad.numpy import enzyme

LOOKUP = """
static double table(long cell) { return ((cell * 2654435761u) % 1000u) * 1e-3; }
double total(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double place = x[i] * CELLS;
    long cell = (long)place;
    double at = place - cell;
    sum += (1 - at) * table(cell) + at * table(cell + 1);
  }
  return sum;
}
"""


@pytest.mark.parametrize("cells", [100.0, 1e5, 2e7])
def test_a_table_with_cells_smaller_than_the_usual_steps_is_verified_without_a_warning(
    tmp_path: Path, cells: float
) -> None:
    """The gradient is the slope of each cell."""
    source = tmp_path / "lookup.c"
    source.write_text(LOOKUP)
    f = enzyme(source, "total", "x[n] -> return", defines={"CELLS": cells}, verify="strict")
    x = (np.floor(np.array([0.2, 0.41, 0.73, 0.9]) * cells) + 0.5) / cells
    with warnings.catch_warnings():
        warnings.simplefilter("error", GradientWarning)
        _, gradient = f.value_and_grad(x)
    cell = np.floor(x * cells).astype(np.int64)

    def table(cell: np.ndarray) -> np.ndarray:
        return (cell * 2654435761 % 1000) * 1e-3

    assert np.allclose(gradient, cells * (table(cell + 1) - table(cell)))
