"""What sources of proxy applications need of the front ends: headers as sources, `omp.h`, dimensions that are powers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from ffgrad.errors import CompileError, ShapeError
from ffgrad.numpy import enzyme


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("f.h", "static inline double f(const double *x, int n) { return x[0] * x[n - 1]; }"),
        ("f.h", "#include <cmath>\ninline double f(const double *x, int n) { return std::fabs(x[0]) * x[n - 1]; }"),
        (
            "f.hpp",
            "template <class T> T two(T x) { return x; }\ninline double f(const double *x, int n) { return two(x[0]) * x[n - 1]; }",
        ),
    ],
)
def test_a_header_is_a_source(tmp_path: Path, name: str, code: str) -> None:
    """C unless it has what only C++ has."""
    (tmp_path / name).write_text(code + "\n")
    f = enzyme(tmp_path / name, "f", "x[n] -> return")
    value, gradient = f.value_and_grad(np.array([2.0, 3.0, 5.0]))
    assert value == 10 and gradient.tolist() == [5, 0, 2]


CUBE = """
void smooth(const double *e, int nx, double *out) {
  for (int i = 0; i < nx * nx * nx; i++) out[i] = e[i] * e[i] * nx;
}
"""


def test_a_dimension_that_is_a_power_of_an_argument_is_solved_for_it(tmp_path: Path) -> None:
    """By the array's length alone; a length that is no such power is refused."""
    source = tmp_path / "cube.c"
    source.write_text(CUBE)
    f = enzyme(source, "smooth", "e[nx*nx*nx] -> out[nx*nx*nx]")
    e = np.random.default_rng(0).standard_normal(27)
    assert np.allclose(f(e), 3 * e * e)
    _, pull = f.vjp(e)
    assert np.allclose(pull(np.ones(27))[0], 6 * e)
    with pytest.raises(ShapeError):
        f(np.ones(26))


def test_nodes_and_elements_of_a_cube_have_one_size(tmp_path: Path) -> None:
    """Where another array gives the size already, this one is checked against it."""
    source = tmp_path / "nodes.c"
    source.write_text(
        "double total(const double *node, const double *e, int nx) { return node[nx] * e[0] + node[(nx+1)*(nx+1)*(nx+1)-1]; }\n"
    )
    f = enzyme(source, "total", "node[(nx+1)*(nx+1)*(nx+1)], e[nx*nx*nx] -> return")
    node, e = np.arange(27.0), np.arange(1.0, 9.0)
    assert f(node, e) == 2 * 1 + 26
    with pytest.raises(ShapeError):
        f(node, np.ones(27))


def test_a_call_of_openmp_without_the_flag_names_the_flag(tmp_path: Path) -> None:
    """The header may be there without it, the functions are not."""
    source = tmp_path / "t.c"
    source.write_text(
        "int omp_get_max_threads(void);\ndouble f(const double *x, int n) { return x[0] * omp_get_max_threads(); }\n"
    )
    with pytest.raises(CompileError, match=re.escape('flags=["-fopenmp"]')):
        enzyme(source, "f", "x[n] -> return")(np.ones(2))
