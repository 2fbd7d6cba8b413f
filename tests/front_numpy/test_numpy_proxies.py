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


def test_flags_for_one_language_are_kept_from_sources_in_the_other(tmp_path: Path) -> None:
    """Clang refuses C++'s standard for a C file."""
    (tmp_path / "twice.c").write_text("double twice(double x) { return 2 * x; }\n")
    (tmp_path / "f.cpp").write_text(
        '#include <span>\nextern "C" double twice(double);\n'
        "double f(const double *x, int n) { std::span<const double> all(x, n); return twice(all.front()) * all.back(); }\n"
    )
    sources = [tmp_path / "f.cpp", tmp_path / "twice.c"]
    f = enzyme(sources, "f", "x[n] -> return", flags=["-std=c++20", "-std=gnu11", "-O2"])
    value, gradient = f.value_and_grad(np.array([2.0, 3.0, 5.0]))
    assert value == 20 and gradient.tolist() == [10, 0, 4]


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


TIMED = """
#include "work.h"
#ifdef _OPENMP
#error "compiled with OpenMP"
#endif
double f(const double *x, int n) {
  omp_set_num_threads(2);
  double start = omp_get_wtime(), sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += x[i] * x[i] * omp_get_num_threads() * (1 + omp_get_thread_num());
  return sum + (omp_get_wtime() < start) + (omp_get_max_threads() > 1);
}
"""


@pytest.mark.parametrize("name", ["f.c", "f.cpp"])
def test_sources_with_omp_h_are_compiled_without_openmp(tmp_path: Path, name: str) -> None:
    """By one thread, as the specification's stubs; also where another header includes it."""
    (tmp_path / "work.h").write_text("#include <omp.h>\n")
    (tmp_path / name).write_text(TIMED.replace("double f", 'extern "C" double f') if name == "f.cpp" else TIMED)
    f = enzyme(tmp_path / name, "f", "x[n] -> return")
    value, gradient = f.value_and_grad(np.array([2.0, 3.0]))
    assert value == 13 and gradient.tolist() == [4, 6]


def test_calls_with_template_and_no_arguments_are_taken(tmp_path: Path) -> None:
    """Compilers of earlier years took them."""
    source = tmp_path / "f.cpp"
    source.write_text(
        """
        #include <vector>
        template <class T> double last(const double *x, int n) {
          std::vector<T> all;
          for (int i = 0; i < n; i++) all.template emplace_back(x[i]);
          return all.back() * all.front();
        }
        extern "C" double f(const double *x, int n) { return last<double>(x, n); }
        """
    )
    assert enzyme(source, "f", "x[n] -> return").grad(np.array([2.0, 3.0])).tolist() == [3, 2]


UPSTREAM = """
#include <iostream>
#include "thrust/reduce.h"
typedef struct { double energy, section; } Point;
typedef struct { Point *grid; int *index, points; double *sum; } Data;
__global__ void lookup_kernel(Data data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= data.points) return;
  const Point *low = data.grid + data.index[i];
  data.sum[i] = low->section + low->energy * (low[1].section - low->section);
}
int main() {
  Data data = {};
  lookup_kernel<<<1, 32>>>(data);
  std::cout << cudaGetLastError();
}
"""
AROUND = """
#undef __global__
#define __global__ __device__
#include "upstream.cu"
#undef __global__
#define __global__ __attribute__((global))
__global__ void lookup(double *grid, int *index, int points, double *sum) {
  Data data = {};
  data.grid = (Point *)grid, data.index = index, data.points = points, data.sum = sum;
  lookup_kernel(data);
}
"""


def test_kernels_with_structures_are_called_by_one_with_arrays(tmp_path: Path) -> None:
    """The source is included as it is, and its kernels become functions of the device."""
    (tmp_path / "upstream.cu").write_text(UPSTREAM)
    (tmp_path / "around.cu").write_text(AROUND)
    f = enzyme(tmp_path / "around.cu", "lookup", "grid[n,2], index[points] -> sum[points]", grid=2, block=2)
    grid, index = np.arange(1.0, 9.0).reshape(4, 2), np.array([0, 2, 1], np.int32)
    value, pull = f.vjp(grid, index)
    low, high = grid[index], grid[index + 1]
    np.testing.assert_allclose(value, low[:, 1] + low[:, 0] * (high[:, 1] - low[:, 1]))
    expected = np.zeros_like(grid)
    np.add.at(expected, index, np.stack([high[:, 1] - low[:, 1], 1 - low[:, 0]], 1))
    np.add.at(expected, (index + 1, 1), low[:, 0])
    np.testing.assert_allclose(pull(np.ones(3))[0], expected)
