"""Programs that use GSL's vectors, matrices, BLAS, linear systems, interpolation, statistics and integration.

Each is compiled twice: by ffgrad, and by the system's compiler with the library itself, for values and differences.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support import gsl_arrays, gsl_factors, gsl_functions
from support.fixtures import Write
from support.gsl_arrays import START

RULES = Path(__file__).parents[2] / "compile-driver/rules"
LIBRARIES = ["gsl", "gslcblas"]
pytestmark = pytest.mark.skipif(
    ctypes.util.find_library("gsl") is None or not Path("/usr/include/gsl").is_dir() or not shutil.which("cc"),
    reason="needs libgsl-dev and a C compiler",
)

PROGRAMS = {**gsl_arrays.PROGRAMS, **gsl_factors.PROGRAMS, **gsl_functions.PROGRAMS}
# Inputs of those that do not take 15.
COUNTS = {
    "orthogonal": 20,
    "pivoted": 20,
    "minima": 3,
    "nonlinear": 10,
    "complex": 5,
    "singular": 48,
    "eigen": 16,
    "fits": 25,
    "transforms": 12,
    "series": 5,
    "roots": 14,
    "random": 2,
    "bilinear_grid": 31,
    "bicubic_grid": 31,
    "vectors": 17,
    "matrices": 26,
    "blas": 32,
    "triangles": 25,
    "systems": 27,
    "statistics": 23,
    "integration": 4,
}


def source(name: str, outputs: int = 1) -> str:
    """The program, and a weighted sum of what it gives out."""
    return f"""{START}{gsl_functions.FUNCTIONS.get(name, "")}
int all(const double* x, double* y) {{
  const double* start = y;
{PROGRAMS[name]}
  return (int)(y - start);
}}
void values(const double* x, double* y) {{ all(x, y); }}
double total(const double* x) {{
  double y[{outputs}], sum = 0;
  all(x, y);
  for (int i = 0; i < {outputs}; i++) sum += cos(i) * y[i];
  return sum;
}}
"""


def library(path: Path) -> Callable[[np.ndarray], np.ndarray]:
    """The program with GSL itself."""
    built = path.with_suffix(".so")
    flags = ["-shared", "-fPIC", "-O1", "-w", "-o", str(built), str(path), "-lgsl", "-lgslcblas", "-lm"]
    subprocess.run(["cc", *flags], check=True)
    function = ctypes.CDLL(str(built)).all

    def values(x: np.ndarray) -> np.ndarray:
        y = np.empty(400)
        return y[: function(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p))].copy()

    return values


def differences(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, direction: np.ndarray, h: float) -> np.ndarray:
    """Central differences of sixth order."""
    weights = ((1, 45), (2, -9), (3, 1))
    total = sum(w * (f(x + k * h * direction) - f(x - k * h * direction)) for k, w in weights)
    return np.asarray(total / (60 * h))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(write: Write, name: str) -> None:
    """The gradient against differences of the library's values, other derivatives against the gradient."""
    n = COUNTS.get(name, 15)
    x = np.random.default_rng(3).uniform(0.3, 1.2, n)
    reference = library(write(source(name), "reference.c"))
    expected = reference(x)
    path = write(source(name, expected.size), f"{name}.c")
    f = enzyme(path, "values", f"x[{n}] -> y[{expected.size}]", libraries=LIBRARIES)
    np.testing.assert_allclose(f(x), expected, rtol=1e-11, atol=1e-11)
    weights = np.cos(np.arange(expected.size))
    total = enzyme(path, "total", f"x[{n}] -> return", libraries=LIBRARIES, timeout=600)
    gradient = total.grad(x)
    # A fit ends where the sum of squares falls no further: at the root of rounding, which longer steps hide.
    step = 4e-2 if name == "nonlinear" else 1e-3
    slopes = np.array([weights @ differences(reference, x, e, step) for e in np.eye(n)])
    scale = np.abs(slopes).max()
    np.testing.assert_allclose(gradient / scale, slopes / scale, rtol=1e-6, atol=1e-7)
    direction = np.random.default_rng(4).uniform(-1, 1, n)
    np.testing.assert_allclose(total.jvp((x,), (direction,))[1], gradient @ direction, rtol=1e-9)
    second = differences(total.grad, x, direction, step)
    np.testing.assert_allclose(total.hvp(x, direction), second, rtol=1e-5, atol=1e-6 * np.abs(second).max())


NONSYMMETRIC = """
#include <gsl/gsl_eigen.h>
void eigenvalues(const double* x, double* re, double* im) {
  gsl_matrix* a = gsl_matrix_alloc(4, 4);
  for (int i = 0; i < 16; i++) gsl_matrix_set(a, i / 4, i % 4, x[i]);
  gsl_vector_complex* w = gsl_vector_complex_alloc(4);
  gsl_eigen_nonsymm_workspace* space = gsl_eigen_nonsymm_alloc(4);
  gsl_eigen_nonsymm(a, w, space);
  for (int i = 0; i < 4; i++) {
    gsl_complex z = gsl_vector_complex_get(w, i);
    re[i] = GSL_REAL(z);
    im[i] = GSL_IMAG(z);
  }
  gsl_eigen_nonsymm_free(space);
  gsl_vector_complex_free(w);
  gsl_matrix_free(a);
}
"""


def test_eigenvalues_of_a_matrix_that_is_not_symmetric(write: Write) -> None:
    """Against left and right eigenvectors; of a pair of complex numbers, too."""
    f = enzyme(write(NONSYMMETRIC, "nonsymm.c"), "eigenvalues", "x[16] -> re[4], im[4]", libraries=LIBRARIES)
    x = np.random.default_rng(5).uniform(-1, 1, 16)
    (re_, im), pull = f.vjp(x)
    assert np.abs(im).max() > 0.1
    weights = np.random.default_rng(6).uniform(-1, 1, 8)
    values, vectors = np.linalg.eig(x.reshape(4, 4))
    order = [int(np.abs(values - (a + 1j * b)).argmin()) for a, b in zip(re_, im, strict=True)]
    slopes = np.einsum("ki,jk->kij", np.linalg.inv(vectors), vectors)[order].reshape(4, 16)
    expected = weights[:4] @ slopes.real + weights[4:] @ slopes.imag
    np.testing.assert_allclose(pull((weights[:4], weights[4:]))[0], expected, rtol=1e-9)
    direction = np.random.default_rng(7).uniform(-1, 1, 16)
    _, (along_re, along_im) = f.jvp((x,), (direction,))
    np.testing.assert_allclose(along_re + 1j * along_im, slopes @ direction, rtol=1e-9)


def test_every_rule_is_tested() -> None:
    """By one of the programs."""
    text = START + NONSYMMETRIC + "".join(PROGRAMS.values())
    called = set(re.findall(r"\bgsl_\w+", text))
    first = ("complex", "factor", "fft", "integration", "interp", "interp2d", "linalg")
    files = (*first, "multimin", "nlinear", "numeric", "stats")
    rules = "".join((RULES / f"gsl_{file}.c").read_text() for file in files)
    # Their differences are too noisy for this comparison: `test_numpy_gsl_differences.py` has closed forms.
    called |= {"gsl_deriv_forward", "gsl_deriv_backward"}
    assert set(re.findall(r"^FFGRAD_REPLACES\((\w+),", rules, re.MULTILINE)) - called == set()
