"""Validation by exceptions: an argument at the edge of what a function accepts has a gradient, though values next to it throw."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from ffgrad.errors import ForeignError, GradientWarning
from ffgrad.numpy import enzyme

SOURCE = r"""
#include <cmath>
#include <stdexcept>
static double valid(double v) { if (v < 0) throw std::domain_error("negative"); return v; }
double total(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += valid(x[i]) * x[i] + x[i];
  return sum;
}
double line(double v) { return 3 * valid(v) + v * v; }
double vanishing(double v) { return valid(v) * std::sqrt(v); }
double root(double v) { return std::sqrt(valid(v)); }
double entropy(const double *p, int n) {
  double mass = 0, sum = 0;
  for (int i = 0; i < n; i++) mass += p[i];
  if (std::fabs(mass - 1) > 1e-12) throw std::invalid_argument("not a distribution");
  for (int i = 0; i < n; i++) sum -= p[i] * std::log(p[i]);
  return sum;
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("exceptions") / "edges.cpp"
    path.write_text(SOURCE)
    yield path


@pytest.fixture(params=["prover", "none"])
def prover(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Derivatives are verified in a process of its own, and in this one."""
    if request.param == "none":
        monkeypatch.setenv("FFGRAD_PROVER", "none")


@pytest.mark.usefixtures("prover")
@pytest.mark.parametrize("verify", ["once", "always", "strict"])
def test_an_element_at_the_edge_has_a_gradient(source: Path, verify: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", GradientWarning)
        for first in ([1.0, 0.5, 2.0], [1.0, 0.0, 2.0]):
            total = enzyme(source, "total", "x[n] -> return", verify=verify)
            for x in (first, [1.0, 0.0, 2.0], [0.0, *range(200)]):
                x = np.array(x)
                assert np.allclose(total.grad(x), 2 * x + 1)
        assert np.allclose(total.hvp(np.array([1.0, 0.0]), np.ones(2)), 2)


@pytest.mark.usefixtures("prover")
def test_a_number_at_the_edge_is_compared_on_the_side_where_there_are_values(source: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", GradientWarning)
        assert enzyme(source, "line", verify="strict").grad(0.0) == 3
        assert enzyme(source, "vanishing", verify="strict").grad(0.0) == 0
    with pytest.warns(GradientWarning, match="differences there grow without bound"):
        enzyme(source, "root").grad(0.0)


def test_the_callers_own_values_throw_as_ever(source: Path) -> None:
    total = enzyme(source, "total", "x[n] -> return")
    for _ in range(2):
        with pytest.raises(ForeignError, match="negative"):
            total.grad(np.array([1.0, -1.0]))
        assert np.allclose(total.grad(np.array([1.0, 0.0])), [3, 1])


def test_a_function_that_throws_all_around_is_not_confirmed(source: Path) -> None:
    p = np.array([0.25, 0.25, 0.5])
    with pytest.warns(GradientWarning, match="throws an exception at values next to these"):
        gradient = enzyme(source, "entropy", "p[n] -> return").grad(p)
    assert np.allclose(gradient, -np.log(p) - 1)


CHECKED = r"""
#include <stdexcept>
#include <vector>
double histogram(const double *x, int n) {
  std::vector<double> squares(4), sums(4);
  for (int i = 0; i < n; i++) {
    squares.at((int)x[i]) += x[i] * x[i];
    sums.at((int)(x[i] / 2)) += x[i];
  }
  double total = 0;
  for (int i = 0; i < 4; i++) total += squares[i] * sums[i];
  return total;
}
"""


def gradient_of_histogram(x: np.ndarray) -> np.ndarray:
    squares, sums = np.zeros(4), np.zeros(4)
    for value in x:
        squares[int(value)] += value**2
        sums[int(value / 2)] += value
    return np.array([2 * v * sums[int(v)] + squares[int(v / 2)] for v in x])


@pytest.mark.parametrize("verify", ["once", "off"])
@pytest.mark.parametrize("outside", [1e9, -1e8, -3.0, 4.5])
def test_nothing_is_written_behind_a_failed_check(tmp_path: Path, verify: str, outside: float) -> None:
    (tmp_path / "histogram.cpp").write_text(CHECKED)
    histogram = enzyme(tmp_path / "histogram.cpp", "histogram", "x[n] -> return", verify=verify)
    inside = np.array([0.5, 1.5, 2.5, 3.5, 2.2])
    assert np.allclose(histogram.grad(inside), gradient_of_histogram(inside))
    x = np.array([0.5, outside, 2.0])
    with pytest.raises(ForeignError, match="range_check"):
        histogram.grad(x)
    with pytest.raises(ForeignError, match="range_check"):
        histogram.jvp((x,), (np.ones(3),))
    assert np.allclose(histogram.grad(inside), gradient_of_histogram(inside))
