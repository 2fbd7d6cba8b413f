"""The rules of FFTW: transforms are linear, so the derivatives are the matrix that the library's values give."""

from __future__ import annotations

import ctypes.util
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.fft
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import Write

RULES = Path(__file__).parents[2] / "compile-driver/rules"
pytestmark = pytest.mark.skipif(
    ctypes.util.find_library("fftw3") is None or not Path("/usr/include/fftw3.h").is_file(), reason="needs libfftw3-dev"
)

# One transform a line: numbers that it reads and writes, and how its plan is made. P( ) is the name with its prefix.
PLANS = """
8 8  P(plan_dft_1d)(4, (P(complex)*)in, (P(complex)*)out, FFTW_FORWARD, FFTW_ESTIMATE)
10 10  P(plan_dft_1d)(5, (P(complex)*)in, (P(complex)*)out, FFTW_BACKWARD, FFTW_MEASURE)
12 12  P(plan_dft_2d)(2, 3, (P(complex)*)in, (P(complex)*)out, FFTW_FORWARD, FFTW_ESTIMATE)
24 24  P(plan_dft_3d)(2, 3, 2, (P(complex)*)in, (P(complex)*)out, FFTW_BACKWARD, FFTW_ESTIMATE)
12 12  P(plan_dft)(2, (int[]){3, 2}, (P(complex)*)in, (P(complex)*)out, FFTW_FORWARD, FFTW_ESTIMATE)
24 12  P(plan_many_dft)(1, (int[]){3}, 2, (P(complex)*)in, 0, 4, 1, (P(complex)*)out, 0, 1, 3, FFTW_FORWARD, FFTW_ESTIMATE)
30 8  P(plan_many_dft)(2, (int[]){2, 2}, 1, (P(complex)*)in, (int[]){3, 5}, 1, 1, (P(complex)*)out, 0, 1, 4, -1, FFTW_ESTIMATE)
6 8  P(plan_dft_r2c_1d)(6, in, (P(complex)*)out, FFTW_ESTIMATE)
5 6  P(plan_dft_r2c_1d)(5, in, (P(complex)*)out, FFTW_ESTIMATE)
8 6  P(plan_dft_c2r_1d)(6, (P(complex)*)in, out, FFTW_ESTIMATE)
6 5  P(plan_dft_c2r_1d)(5, (P(complex)*)in, out, FFTW_ESTIMATE)
12 18  P(plan_dft_r2c_2d)(3, 4, in, (P(complex)*)out, FFTW_ESTIMATE)
18 12  P(plan_dft_c2r_2d)(3, 4, (P(complex)*)in, out, FFTW_ESTIMATE)
16 12  P(plan_dft_c2r_2d)(4, 3, (P(complex)*)in, out, FFTW_ESTIMATE)
18 24  P(plan_dft_r2c)(3, (int[]){3, 2, 3}, in, (P(complex)*)out, FFTW_ESTIMATE)
24 18  P(plan_dft_c2r)(3, (int[]){3, 2, 3}, (P(complex)*)in, out, FFTW_ESTIMATE)
16 24  P(plan_dft_r2c_3d)(2, 2, 4, in, (P(complex)*)out, FFTW_ESTIMATE)
24 16  P(plan_dft_c2r_3d)(2, 2, 4, (P(complex)*)in, out, FFTW_ESTIMATE)
8 12  P(plan_many_dft_r2c)(1, (int[]){4}, 2, in, 0, 2, 1, (P(complex)*)out, 0, 1, 3, FFTW_ESTIMATE)
12 8  P(plan_many_dft_c2r)(1, (int[]){4}, 2, (P(complex)*)in, 0, 2, 1, out, 0, 1, 4, FFTW_ESTIMATE)
6 6  P(plan_r2r_2d)(2, 3, in, out, FFTW_REDFT10, FFTW_RODFT01, FFTW_ESTIMATE)
6 6  P(plan_r2r)(2, (int[]){2, 3}, in, out, (P(r2r_kind)[]){FFTW_RODFT10, FFTW_R2HC}, FFTW_ESTIMATE)
10 10  P(plan_many_r2r)(1, (int[]){5}, 2, in, 0, 2, 1, out, 0, 1, 5, (P(r2r_kind)[]){FFTW_REDFT10}, FFTW_ESTIMATE)
8 8  P(plan_dft_1d)(4, (P(complex)*)out, (P(complex)*)out, FFTW_FORWARD, FFTW_ESTIMATE)
6 8  P(plan_dft_r2c_1d)(6, out, (P(complex)*)out, FFTW_ESTIMATE)
8 6  P(plan_dft_c2r_1d)(6, (P(complex)*)out, out, FFTW_ESTIMATE)
"""
KINDS = "R2HC HC2R DHT REDFT00 REDFT01 REDFT10 REDFT11 RODFT00 RODFT01 RODFT10 RODFT11".split()
PLANS += "".join(
    f"{n} {n} P(plan_r2r_1d)({n}, in, out, FFTW_{kind}, FFTW_ESTIMATE)\n" for kind in KINDS for n in (4, 5)
)
LINES = PLANS.strip().split("\n")
# By arrays other than the plan's.
OTHER_ARRAYS = {
    "1d)(4, (P(c": "P(execute_dft)(plan, (P(complex)*)in, (P(complex)*)out)",
    "r2c_1d)(5": "P(execute_dft_r2c)(plan, in, (P(complex)*)out)",
    "c2r_1d)(5": "P(execute_dft_c2r)(plan, (P(complex)*)in, out)",
    "r2r_1d)(5": "P(execute_r2r)(plan, in, out)",
}


def source(prefix: str, number: str, plans: list[str]) -> tuple[str, int, int]:
    """A program that does these transforms, each with input and output of its own, and the lengths of both."""
    parts, read, written = [], 0, 0
    for line in plans:
        n, m, plan = line.split(maxsplit=2)
        execute = next((e for start, e in OTHER_ARRAYS.items() if start in plan and "*)out, (P" not in plan), "")
        size = max(int(n), int(m))
        parts.append(f"""  {{
    T* in = P(alloc_real)({n});
    T* out = P(malloc)({size} * sizeof(T));
    P(plan) plan = {plan.replace("in,", "other,", 1).replace("out,", "target,", 1) if execute else plan};
    for (int i = 0; i < {n}; i++) in[i] = x[{read} + i];
    for (int i = 0; i < {size}; i++) out[i] = i < {n} ? x[{read} + i] : 0;
    {execute or "P(execute)(plan)"};
    for (int i = 0; i < {m}; i++) y[{written} + i] = out[i];
    P(destroy_plan)(plan);
    P(free)(in);
    P(free)(out);
  }}""")
        read, written = read + int(n), written + int(m)
    body = "\n".join(parts)
    text = f"""\
#include <fftw3.h>
#include <math.h>
#define P(name) {prefix}_##name
typedef {number} T;
void all(const T* x, T* y) {{
  P(init_threads)();
  P(plan_with_nthreads)(1);
  T *other = P(alloc_real)(64), *target = (T*)P(alloc_complex)(64);
{body}
  P(free)(other);
  P(free)(target);
  P(cleanup)();
  P(cleanup_threads)();
}}
T energy(const T* x) {{
  T y[{written}], sum = 0;
  all(x, y);
  for (int i = 0; i < {written}; i++) sum += cos(i) * y[i] * y[i] / 2;
  return sum;
}}
"""
    return text, read, written


class Transforms(NamedTuple):
    """Their program, its matrix, vectors of both lengths, and how close results must be."""

    path: Path
    library: str
    matrix: np.ndarray
    x: np.ndarray
    v: np.ndarray
    w: np.ndarray
    close: dict[str, float]

    def enzyme(self, name: str, signature: str) -> Enzyme:
        """One of the program's functions."""
        return enzyme(self.path, name, signature, libraries=[self.library])

    @property
    def all(self) -> Enzyme:
        """The transforms."""
        return self.enzyme("all", f"x[{self.matrix.shape[1]}] -> y[{self.matrix.shape[0]}]")


def transforms(write: Write, prefix: str, number: str, plans: list[str]) -> Transforms:
    """Compile them. The matrix is that of the function's values."""
    library = prefix.replace("fftw", "fftw3")
    if ctypes.util.find_library(library) is None:
        pytest.skip(f"needs {library}")
    text, n, m = source(prefix, number, plans)
    dtype, tolerance = (np.float64, 1e-12) if number == "double" else (np.float32, 1e-4)
    rng = np.random.default_rng(0)
    vectors = [rng.standard_normal(k).astype(dtype) for k in (n, n, m)]
    made = Transforms(write(text, "all.c"), library, np.empty((m, n)), *vectors, {"rtol": tolerance, "atol": tolerance})
    f = made.all
    return made._replace(matrix=np.stack([f(e) for e in np.eye(n, dtype=dtype)], axis=1).astype(float))


@pytest.mark.parametrize(("prefix", "number"), [("fftw", "double"), ("fftwf", "float")])
def test_derivatives_are_the_transforms_matrix(write: Write, prefix: str, number: str) -> None:
    """In both modes."""
    t = transforms(write, prefix, number, LINES)
    f = t.all
    np.testing.assert_allclose(f(t.x), t.matrix @ t.x, **t.close)
    np.testing.assert_allclose(f.jvp((t.x,), (t.v,))[1], t.matrix @ t.v, **t.close)
    np.testing.assert_allclose(f.vjp(t.x)[1](t.w)[0], t.matrix.T @ t.w, **t.close)


# One of each kind, and one in place.
@pytest.mark.parametrize("plan", [LINES[i] for i in (0, 11, 13, 20, 25)])
def test_second_derivatives_of_a_sum_of_squares(write: Write, plan: str) -> None:
    """The Hessian is the matrix and its transpose, with weights between."""
    t = transforms(write, "fftw", "double", [plan])
    energy = t.enzyme("energy", f"x[{t.x.size}] -> return")
    hessian = t.matrix.T @ np.diag(np.cos(np.arange(t.w.size))) @ t.matrix
    np.testing.assert_allclose(energy.grad(t.x), hessian @ t.x, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(energy.hvp(t.x, t.v), hessian @ t.v, rtol=1e-10, atol=1e-10)


CONVOLUTION = """
#include <complex.h>
#include <fftw3.h>
double convolution(const double* a, const double* b, int n) {
  int half = n / 2 + 1;
  double* x = fftw_malloc(n * sizeof(double));
  fftw_complex *fa = fftw_alloc_complex(half), *fb = fftw_alloc_complex(half);
  fftw_plan there = fftw_plan_dft_r2c_1d(n, x, fa, FFTW_ESTIMATE);
  fftw_plan back = fftw_plan_dft_c2r_1d(n, fa, x, FFTW_ESTIMATE);
  for (int i = 0; i < n; i++) x[i] = a[i];
  fftw_execute(there);
  for (int i = 0; i < n; i++) x[i] = b[i];
  fftw_execute_dft_r2c(there, x, fb);
  for (int i = 0; i < half; i++) fa[i] *= fb[i] / n;
  fftw_execute(back);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (i + 1) * x[i] * x[i];
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  fftw_free(x);
  fftw_free(fa);
  fftw_free(fb);
  return sum;
}
"""


def convolution(write: Write) -> Enzyme:
    """A cyclic convolution's weighted square."""
    return enzyme(write(CONVOLUTION, "convolution.c"), "convolution", "a[n], b[n] -> return", libraries=["fftw3"])


@pytest.mark.parametrize("n", [7, 8])
def test_a_convolution(write: Write, n: int) -> None:
    """One plan for two arrays, products of spectra; against the sum itself."""
    f = convolution(write)
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, n))
    cyclic = np.stack([np.roll(b[::-1], i + 1) for i in range(n)])
    np.testing.assert_allclose(cyclic @ a, scipy.fft.irfft(scipy.fft.rfft(a) * scipy.fft.rfft(b), n))
    weights = np.diag(np.arange(1.0, n + 1))
    np.testing.assert_allclose(f(a, b), a @ cyclic.T @ weights @ cyclic @ a)
    np.testing.assert_allclose(f.grad(a, b), 2 * cyclic.T @ weights @ cyclic @ a)
    direction = rng.standard_normal(n)
    hessian = f.hvp((a, b), (direction, 0 * b))
    np.testing.assert_allclose(hessian[0], 2 * cyclic.T @ weights @ cyclic @ direction)


def test_every_rule_is_tested() -> None:
    """By a line of the plans above or by the programs around them."""
    for prefix in ("fftw", "fftwf"):
        text = (RULES / f"fftw_{'d' if prefix == 'fftw' else 's'}.c").read_text()
        replaced = set(re.findall(r"^FFGRAD_REPLACES\((\w+),", text, re.MULTILINE))
        called = {f"{prefix}_{name}" for name in re.findall(r"P\((\w+)\)\(", source(prefix, "double", LINES)[0])}
        assert replaced - called == set()
