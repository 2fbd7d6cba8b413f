"""LAPACK by its Fortran names and by LAPACKE: eigenvalues, factors, least squares; against differences of the values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import Write

# Results that are not numbers are not proven.
pytestmark = pytest.mark.filterwarnings("ignore::ffgrad.errors.GradientWarning")

# Each reads from x and adds to sum; n is 3, m is 5. ROWS is 101, COLUMNS 102.
START = """\
#include <math.h>
void dsyev_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, const int*, int*);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void dposv_(const char*, const int*, const int*, double*, const int*, double*, const int*, int*);
void dgels_(const char*, const int*, const int*, const int*, double*, const int*, double*, const int*, double*, const int*, int*);
int LAPACKE_dsyev(int, char, char, int, double*, int, double*);
int LAPACKE_dsyevd(int, char, char, int, double*, int, double*);
int LAPACKE_dgetrf(int, int, int, double*, int, int*);
int LAPACKE_dgetrs(int, char, int, int, const double*, int, const int*, double*, int);
int LAPACKE_dgesv(int, int, int, double*, int, int*, double*, int);
int LAPACKE_dpotrf(int, char, int, double*, int);
int LAPACKE_dpotrs(int, char, int, int, const double*, int, double*, int);
int LAPACKE_dposv(int, char, int, int, double*, int, double*, int);
int LAPACKE_dgels(int, char, int, int, int, double*, int, double*, int);
void dgesvd_(const char*, const char*, const int*, const int*, double*, const int*, double*, double*, const int*, double*, const int*, double*, const int*, int*);
void dgesdd_(const char*, const int*, const int*, double*, const int*, double*, double*, const int*, double*, const int*, double*, const int*, int*, int*);
void dgeev_(const char*, const char*, const int*, double*, const int*, double*, double*, double*, const int*, double*, const int*, double*, const int*, int*);
int LAPACKE_dgesvd(int, char, char, int, int, double*, int, double*, double*, int, double*, int, double*);
int LAPACKE_dgesdd(int, char, int, int, double*, int, double*, double*, int, double*, int);
int LAPACKE_dgeev(int, char, char, int, double*, int, double*, double*, double*, int, double*, int);
static const double c[3] = {0.3, -0.7, 1.1};
static double power(const double* v, int ld, int step, const double* w, int k) {
  double sum = 0;
  for (int j = 0; j < 3; j++) {
    double dot = 0;
    for (int i = 0; i < 3; i++) dot += c[i] * v[i * step + j * ld];
    sum += pow(w[j], k) * dot * dot;
  }
  return sum;
}
"""
EIGENVECTORS = """
double a[12] = {0}, w[3], work[40];
int n = 3, ld = 4, size = 40, integers[30], count = 30, info;
for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) a[i + 4 * j] = x[i + 3 * j];
dsyev_("V", "L", &n, a, &ld, w, work, &size, &info);
sum += power(a, 4, 1, w, 3);
for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) a[i + 4 * j] = x[9 + i + 3 * j];
int query = -1;
dsyevd_("V", "U", &n, a, &ld, w, work, &query, integers, &query, &info);
dsyevd_("V", "U", &n, a, &ld, w, work, &size, integers, &count, &info);
sum += power(a, 4, 1, w, 2) + info;
"""
EIGENVALUES = """
double a[9], w[3], work[40];
int n = 3, size = 40, info;
for (int i = 0; i < 9; i++) a[i] = x[i];
dsyev_("N", "U", &n, a, &n, w, work, &size, &info);
for (int k = 0; k < 3; k++) sum += (k + 1) * w[k] * w[k];
for (int i = 0; i < 9; i++) a[i] = x[9 + i];
LAPACKE_dsyev(101, 'N', 'U', 3, a, 3, w);
for (int k = 0; k < 3; k++) sum += (k + 1) * exp(w[k] / 4);
"""
ROWS = """
double a[12] = {0}, b[6], w[3];
int pivots[3];
for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) a[4 * i + j] = x[i + 3 * j];
LAPACKE_dsyevd(101, 'V', 'U', 3, a, 4, w);
sum += power(a, 1, 4, w, 3);
for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) a[4 * i + j] = x[i + 3 * j] + 4 * (i == j);
for (int i = 0; i < 6; i++) b[i] = x[9 + i];
LAPACKE_dgesv(101, 3, 2, a, 4, pivots, b, 2);
for (int i = 0; i < 6; i++) sum += (i + 1) * b[i];
for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) a[4 * i + j] = x[9 + i + 3 * j] + 4 * (i == j);
LAPACKE_dgetrf(101, 3, 3, a, 4, pivots);
LAPACKE_dgetrs(101, 'T', 3, 2, a, 4, pivots, b, 2);
for (int i = 0; i < 6; i++) sum += (i + 1) * b[i] * b[i];
for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) a[4 * i + j] = x[i + 3 * j] + 9 * (i == j);
LAPACKE_dpotrf(101, 'U', 3, a, 4);
LAPACKE_dpotrs(101, 'U', 3, 2, a, 4, b, 2);
for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) a[4 * i + j] = x[i + 3 * j] + 9 * (i == j);
LAPACKE_dposv(102, 'L', 3, 1, a, 4, b, 3);
for (int i = 0; i < 6; i++) sum += 100 * (i + 1) * b[i] * b[i];
"""
FACTORS = """
double a[9], b[3], s[9];
int n = 3, one = 1, pivots[3], info;
for (int i = 0; i < 9; i++) a[i] = x[i];
dgetrf_(&n, &n, a, &n, pivots, &info);
for (int i = 0; i < 3; i++) sum += log(fabs(a[4 * i])) + a[3 * i + (i + 1) % 3];
for (int i = 0; i < 9; i++) s[i] = x[9 + i] + 9 * (i % 4 == 0);
for (int i = 0; i < 3; i++) b[i] = x[i];
dposv_("L", &n, &one, s, &n, b, &n, &info);
for (int i = 0; i < 3; i++) sum += 50 * (i + 1) * b[i] * b[i] + s[4 * i];
"""
LEAST = """
double a[15], b[10], work[100];
int m = 5, n = 3, two = 2, size = 100, info, query = -1;
for (int t = 0; t < 4; t++) {
  int wide = t / 2, plain = t % 2 == 0, rows = wide ? 3 : 5, columns = 8 - rows, given = plain ? rows : columns;
  for (int i = 0; i < 15; i++) a[i] = sin(2 * i + t) + x[i];
  for (int j = 0; j < 2; j++) for (int i = 0; i < given; i++) b[i + 5 * j] = x[15 + i + 5 * j];
  dgels_(plain ? "N" : "T", &rows, &columns, &two, a, &rows, b, &m, work, &query, &info);
  dgels_(plain ? "N" : "T", &rows, &columns, &two, a, &rows, b, &m, work, &size, &info);
  for (int j = 0; j < 2; j++) for (int i = 0; i < 8 - given; i++) sum += (i + 2 * j + 1) * b[i + 5 * j] * b[i + 5 * j] + b[i + 5 * j];
}
for (int i = 0; i < 15; i++) a[i] = cos(i) + x[i];
for (int i = 0; i < 10; i++) b[i] = x[15 + i];
LAPACKE_dgels(101, 'N', 5, 3, 2, a, 3, b, 2);
for (int i = 0; i < 6; i++) sum += (i + 1) * b[i] * b[i];
"""
# Of matrices of 5 by 3 and 3 by 5, vectors by all jobs; of a whole U of one column more, and of one more by two its first columns.
SINGULAR = """
double a[15], s[3], u[30], vt[30], work[200], rest[5];
int m, n, few = 3, ld = 6, size = 200, query = -1, info, integers[40];
const char* jobs[7] = {"NN", "SN", "NS", "SS", "OA", "AO", "AA"};
for (int t = 0; t < 14; t++) {
  const char* job = jobs[t % 7];
  int wide = t / 7;
  m = wide ? 3 : 5, n = 8 - m;
  for (int i = 0; i < 15; i++) a[i] = x[i] + sin(2 * i + t);
  dgesvd_(job, job + 1, &m, &n, a, &m, s, u, &ld, vt, &ld, work, &query, &info);
  dgesvd_(job, job + 1, &m, &n, a, &m, s, u, &ld, vt, &ld, work, &size, &info);
  for (int k = 0; k < 3; k++) {
    sum += (k + 1) * s[k] * s[k];
    double left = 0, right = 0;
    if (job[0] != 'N') for (int i = 0; i < m; i++) left += (i + 1) * (job[0] == 'O' ? a[i + k * m] : u[i + 6 * k]);
    if (job[1] != 'N') for (int i = 0; i < n; i++) right += cos(i) * (job[1] == 'O' ? a[k + i * m] : vt[k + 6 * i]);
    sum += (k + 1) * (job[0] == 'N' ? right * right : job[1] == 'N' ? left * left : left * right) + info;
  }
}
for (int t = 0; t < 6; t++) {
  const char job = "NSO"[t % 3];
  m = t / 3 ? 3 : 5, n = 8 - m;
  for (int i = 0; i < 15; i++) a[i] = x[i] + sin(3 * i + t);
  dgesdd_(&job, &m, &n, a, &m, s, u, &ld, vt, &ld, work, &size, integers, &info);
  for (int k = 0; k < 3; k++) {
    sum += exp(s[k] / 4);
    double left = 0, right = 0;
    if (job != 'N') for (int i = 0; i < m; i++) left += (i + 1) * (job == 'O' && m == 5 ? a[i + k * m] : u[i + 6 * k]);
    if (job != 'N') for (int i = 0; i < n; i++) right += cos(i) * (job == 'O' && m == 3 ? a[k + i * m] : vt[k + 6 * i]);
    sum += (k + 1) * left * right;
  }
}
for (int i = 0; i < 15; i++) a[i] = x[i] + cos(i);
LAPACKE_dgesvd(101, 'S', 'S', 5, 3, a, 3, s, u, 3, vt, 3, rest);
for (int k = 0; k < 3; k++) for (int i = 0; i < 5; i++) sum += (i + k) * u[3 * i + k] * vt[3 * k + 1] * s[k];
for (int i = 0; i < 12; i++) a[i] = x[i] + cos(2 * i);
LAPACKE_dgesdd(101, 'A', 4, 3, a, 3, s, u, 4, vt, 3);
for (int i = 0; i < 4; i++) sum += (i + 1) * u[4 * i + 3] * u[3] + i * u[4 * i] * vt[i % 3];
"""
# Of 5 by 5, with real and complex eigenvalues, and of 3 by 3 by rows.
GENERAL = """
double a[25], wr[5], wi[5], vl[25], vr[25], work[100];
int n = 5, size = 100, query = -1, info;
const char* jobs[4] = {"NN", "NV", "VN", "VV"};
for (int t = 0; t < 4; t++) {
  const char* job = jobs[t];
  for (int i = 0; i < 25; i++) a[i] = x[i] + (i % 7) * sin(3 * i);
  dgeev_(job, job + 1, &n, a, &n, wr, wi, vl, &n, vr, &n, work, &query, &info);
  dgeev_(job, job + 1, &n, a, &n, wr, wi, vl, &n, vr, &n, work, &size, &info);
  for (int k = 0; k < 5; k++) {
    sum += (k + 1) * wr[k] * wr[k] / 10 + cos(k) * wi[k] * wi[k] + sin(k) * wi[k] * wr[k];
    if (job[1] == 'V') for (int i = 0; i < 5; i++) sum += (i + 1) * vr[i + 5 * k] * vr[5 * k] + cos(i) * vr[i + 5 * k] * vr[1 + 5 * (wi[k] > 0 ? k + 1 : k)];
    if (job[0] == 'V') for (int i = 0; i < 5; i++) sum += (i + 1) * vl[i + 5 * k] * vl[5 * k] + cos(i) * vl[i + 5 * k] * vl[1 + 5 * (wi[k] > 0 ? k + 1 : k)];
  }
}
for (int i = 0; i < 9; i++) a[i] = x[i] + (i % 4) * sin(3 * i);
LAPACKE_dgeev(101, 'V', 'V', 3, a, 3, wr, wi, vl, 3, vr, 3);
for (int i = 0; i < 9; i++) sum += (i + 1) * vl[i] * vl[i % 3] + wr[i / 3] * vr[i] * vr[i % 3];
"""
PROGRAMS = {"eigenvectors": (EIGENVECTORS, 18), "eigenvalues": (EIGENVALUES, 18), "rows": (ROWS, 18)}
PROGRAMS |= {"factors": (FACTORS, 18), "least": (LEAST, 25), "singular": (SINGULAR, 15), "general": (GENERAL, 25)}


def compiled(write: Write, body: str, n: int) -> Enzyme:
    """A number of n numbers."""
    text = f"{START}double f(const double* x) {{\n  double sum = 0;\n{body}\n  return sum;\n}}\n"
    return enzyme(write(text), "f", f"x[{n}] -> return")


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_are_the_differences(write: Write, name: str) -> None:
    """Both modes against values, second derivatives against first ones."""
    body, n = PROGRAMS[name]
    f = compiled(write, body, n)
    x = np.random.default_rng(5).uniform(-1, 1, n)

    def difference(g: Callable[[np.ndarray], np.ndarray], v: np.ndarray) -> np.ndarray:
        h = 1e-3
        steps = ((1, 45), (2, -9), (3, 1))
        return np.asarray(sum(w * (g(x + k * h * v) - g(x - k * h * v)) for k, w in steps) / (60 * h))

    gradient = f.grad(x)
    np.testing.assert_allclose(gradient, [difference(f, e) for e in np.eye(n)], rtol=1e-6, atol=1e-7)
    v = np.random.default_rng(6).uniform(-1, 1, n)
    np.testing.assert_allclose(f.jvp((x,), (v,))[1], gradient @ v, rtol=1e-9)
    second = difference(f.grad, v)
    np.testing.assert_allclose(f.hvp(x, v), second, rtol=1e-5, atol=1e-6 * np.abs(second).max())


def test_equal_eigenvalues(write: Write) -> None:
    """What depends on the eigenvalues alone has a derivative; what mixes their eigenvectors has none, which is not zero."""
    a = np.diag([2.0, 2.0, 5.0]).ravel()
    squares = """
double a[9], w[3], work[40];
int n = 3, size = 40, info;
for (int i = 0; i < 9; i++) a[i] = x[i];
dsyev_("V", "U", &n, a, &n, w, work, &size, &info);
for (int i = 0; i < 3; i++) sum += w[i] * w[i];
"""
    np.testing.assert_allclose(compiled(write, squares, 9).grad(a), 2 * a, rtol=1e-12)
    gradient = compiled(write, EIGENVECTORS, 18).grad(np.concatenate([a, a]))
    assert np.isnan(gradient[1])


def test_what_gels_leaves_besides_the_solution_has_no_derivative(write: Write) -> None:
    """Not zero: not-a-number."""
    body = """
double a[6], b[3], work[50];
int m = 3, n = 2, one = 1, size = 50, info;
for (int i = 0; i < 6; i++) a[i] = x[i] + (i == 0) + (i == 4);
for (int i = 0; i < 3; i++) b[i] = x[6 + i];
dgels_("N", &m, &n, &one, a, &m, b, &m, work, &size, &info);
sum = b[2] * b[2];
"""
    assert np.isnan(compiled(write, body, 9).grad(np.linspace(0.1, 0.9, 9))).any()


def svd_of_diagonal(write: Write, use: str) -> np.ndarray:
    """The gradient of what is made of the decomposition of diag(2, 2, 5) with a row of zeros below."""
    body = """
double a[12], s[3], u[16], vt[9], work[100];
int m = 4, n = 3, size = 100, info;
for (int i = 0; i < 12; i++) a[i] = x[i];
dgesvd_("A", "S", &m, &n, a, &m, s, u, &m, vt, &n, work, &size, &info);
"""
    a = np.zeros((3, 4))
    a[:, :3] = np.diag([2.0, 2.0, 5.0])
    return np.asarray(compiled(write, body + use, 12).grad(a.ravel()))


def test_equal_singular_values(write: Write) -> None:
    """As for equal eigenvalues; the last column of a whole U is the only one of its kind, and has a derivative."""
    a = np.zeros((3, 4))
    a[:, :3] = np.diag([2.0, 2.0, 5.0])
    squares = svd_of_diagonal(write, "for (int i = 0; i < 3; i++) sum += s[i] * s[i];")
    np.testing.assert_allclose(squares, 2 * a.ravel(), rtol=1e-12)
    assert np.isnan(svd_of_diagonal(write, "sum = (u[4] + 2 * u[5]) * (u[8] + 3 * u[9]);")).any()
    last = svd_of_diagonal(write, "sum = u[12] * u[15] + u[13] * u[15] * 3;")
    np.testing.assert_allclose(last.reshape(3, 4)[:, 3], [-0.5, -1.5, 0], atol=1e-12)


def test_what_more_columns_of_a_whole_basis_do_among_themselves_has_no_derivative(write: Write) -> None:
    """Two further columns of U; a function of the space that they span, of the first ones alone, has one."""
    body = """
double a[4], s, u[16], vt, work[100];
int m = 4, n = 1, size = 100, info;
for (int i = 0; i < 4; i++) a[i] = x[i];
dgesvd_("A", "N", &m, &n, a, &m, &s, u, &m, &vt, &n, work, &size, &info);
"""
    x = np.array([1.0, 2.0, 3.0, 4.0])
    assert np.isnan(compiled(write, body + "sum = u[4] * u[9];", 4).grad(x)).any()
    unit = x / np.sqrt(30)
    expected = 2 * unit[0] * (np.eye(4)[0] - unit[0] * unit) / np.sqrt(30)
    np.testing.assert_allclose(compiled(write, body + "sum = u[0] * u[0];", 4).grad(x), expected, rtol=1e-12)


@pytest.mark.parametrize("a", [np.diag([2.0, 2.0, 5.0]), np.array([[1.0, 0, 0], [1, 1, 0], [0, 0, 3]])])
def test_equal_eigenvalues_of_general_matrices_have_no_derivative(write: Write, a: np.ndarray) -> None:
    """With two eigenvectors, or with one; what depends on the third alone has a derivative."""
    body = """
double a[9], wr[3], wi[3], vr[9], work[100];
int n = 3, size = 100, info;
for (int i = 0; i < 9; i++) a[i] = x[i];
dgeev_("N", "V", &n, a, &n, wr, wi, vr, &n, vr, &n, work, &size, &info);
"""
    assert np.isnan(compiled(write, body + "sum = wr[0];", 9).grad(a.ravel())).any()
    assert np.isnan(compiled(write, body + "sum = (vr[0] + 2 * vr[1]) * (vr[3] + vr[4]);", 9).grad(a.ravel())).any()
    last = np.zeros(9)
    last[8] = 1
    np.testing.assert_allclose(compiled(write, body + "sum = wr[2];", 9).grad(a.ravel()), last, atol=1e-9)


def test_single_precision(write: Write) -> None:
    """Singular values and complex eigenvalues, against those of double precision."""
    body = """
T a[9], s[3], wr[3], wi[3], u[9], vt[9], work[100];
int n = 3, size = 100, info;
for (int i = 0; i < 9; i++) a[i] = x[i];
GESVD("S", "S", &n, &n, a, &n, s, u, &n, vt, &n, work, &size, &info);
T sum = s[0] * u[1] * vt[0] + s[2];
for (int i = 0; i < 9; i++) a[i] = x[i];
GEEV("N", "V", &n, a, &n, wr, wi, vt, &n, vt, &n, work, &size, &info);
return sum + wr[0] * wr[0] + wi[0] + vt[0] * vt[1] + vt[3] * vt[4] + vt[6] * vt[7];
"""
    declared = """
void GESVD(const char*, const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, T*, const int*, int*);
void GEEV(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*, const int*, T*, const int*, int*);
"""
    x = np.array([[0.3, -1.2, 0.1], [1.0, 0.4, -0.2], [0.5, 0.1, -0.9]])
    gradients = []
    for kind, letter in ((np.float64, "d"), (np.float32, "s")):
        text = f"{declared}T f(const T* x) {{{body}}}\n".replace("GESVD", f"{letter}gesvd_").replace(
            "GEEV", f"{letter}geev_"
        )
        text = f"typedef {'double' if letter == 'd' else 'float'} T;\n{text}"
        gradients.append(enzyme(write(text), "f", "x[9] -> return").grad(x.ravel().astype(kind)))
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=2e-4, atol=2e-5)
