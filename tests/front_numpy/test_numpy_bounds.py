"""A signature that gives a function smaller arrays than it uses is refused before the function runs in this process."""

from __future__ import annotations

from pathlib import Path

import ffgrad
import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import RunPython, Write

SOURCE = """\
void accelerations(const double *pos, const double *mass, double *acc, int n) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            acc[3 * i + k] = 0;
            for (int j = 0; j < n; j++) acc[3 * i + k] += mass[j] * (pos[3 * j + k] - pos[3 * i + k]);
        }
}
void product(const double *A, const double *B, double *C, int m, int k, int n) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            C[i * n + j] = 0;
            for (int l = 0; l < k; l++) C[i * n + j] += A[i * k + l] * B[l * n + j];
        }
}
double polynomial(const double *c, int degree, double x) {
    double value = c[degree];
    for (int i = degree - 1; i >= 0; i--) value = value * x + c[i];
    return value;
}
double mean(const double *x, int n, double *spread) {
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) sum += x[i] / n;
    for (int i = 0; i < n; i++) squares += (x[i] - sum) * (x[i] - sum);
    *spread = squares;
    return sum;
}
void powers(double a, double *y) { y[0] = a, y[1] = a * a, y[2] = a * a * a; }
double picked(const double *x, const int *index, int n, int m) {
    double sum = 0;
    for (int i = 0; i < m; i++) sum += x[index[i]] * x[index[i]];
    return sum;
}
"""
X = np.arange(1.0, 5.0)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("name", "signature", "inputs", "told"),
    [
        ("accelerations", None, (X, X, X), r"reads outside of `pos`, which is taken for 4 elements by default"),
        ("polynomial", None, (X, 0.5), r"reads outside of `c`, which is taken for 4 elements by default"),
        (
            "product",
            "A[m], B[m], k, n -> C[m]",
            (X, X, 2, 2),
            r"writes outside of `C`, which has 4 elements in this call",
        ),
        ("powers", "a -> y", (2.0,), r"writes outside of `y`, which has 1 element in this call \(element 1,"),
        (
            "picked",
            "x[n], index[m] -> return",
            (X, np.array([0, 9], np.int32)),
            r"outside of `x`.* \(element 9, counted from 0\).*or an index is out of range\n.*\.c:30  \|  for ",
        ),
    ],
)
@pytest.mark.parametrize("differentiated", [False, True])
def test_arrays_that_are_too_small_are_an_error(
    write: Write, name: str, signature: str | None, inputs: tuple[object, ...], told: str, differentiated: bool
) -> None:
    """In the first call, whether or not a gradient is wanted."""
    op = enzyme(write(SOURCE), name) if signature is None else enzyme(write(SOURCE), name, signature)
    with pytest.raises(ffgrad.SignatureError, match=told):
        op.vjp(*inputs) if differentiated else op(*inputs)  # type: ignore[arg-type]


@pytest.mark.usefixtures("cache")
def test_one_number_that_is_taken_for_an_array_is_warned_of(write: Write) -> None:
    """The published form of the first example is such a function."""
    with pytest.warns(ffgrad.GradientWarning, match="writes one number to `spread`, which is taken for 4 elements"):
        enzyme(write(SOURCE), "mean")(X)


@pytest.mark.usefixtures("cache")
def test_right_sizes_pass(write: Write) -> None:
    """The same functions."""
    pos, mass = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0])
    acc = enzyme(write(SOURCE), "accelerations", "pos[n,3], mass[n] -> acc[n,3]")(pos, mass)
    np.testing.assert_allclose(acc, [[6, 6, 6], [-3, -3, -3]])
    assert enzyme(write(SOURCE), "mean", "x[n] -> spread, return")(X) == (5.0, 2.5)
    assert enzyme(write(SOURCE), "powers", "a -> y[3]")(2.0).tolist() == [2, 4, 8]
    picked = enzyme(write(SOURCE), "picked", "x[n], index[m] -> return")
    assert picked.vjp(X, np.array([0, 3], np.int32))[1](1.0)[0].tolist() == [2, 0, 0, 8]


def test_what_a_function_writes_is_not_written_twice(cache: Path, write: Write, run_python: RunPython) -> None:
    """The look at its bounds writes no files, and is remembered."""
    source = write(
        """#include <stdio.h>
        double noted(const double *x, int n) {
            FILE *log = fopen("log", "a");
            fputs("run", log);
            fclose(log);
            return x[0] * x[n - 1];
        }"""
    )
    program = f"""
import numpy as np
from ffgrad.numpy import enzyme
print(enzyme({str(source)!r}, "noted")(np.ones(2)), open("log").read())
"""
    assert run_python(program).stdout.split() == ["1.0", "run"]
    assert len(list(cache.rglob("inside"))) == 1
    assert run_python(program, {"FFGRAD_PROVER": "none"}).stdout.split() == ["1.0", "runrun"]


# --- bounds="check" -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("differentiated", [False, True])
def test_every_call_is_looked_at(write: Write, differentiated: bool) -> None:
    """An index out of range in a later call of the same size, in front of the array or behind it."""
    picked = enzyme(write(SOURCE), "picked", "x[n], index[m] -> return", bounds="check")

    def run(*index: int) -> None:
        given = np.array(index, np.int32)
        picked.vjp(X, given)[1](1.0) if differentiated else picked(X, given)

    run(0, 3)
    with pytest.raises(ffgrad.SignatureError, match=r"reads outside of `x`, .*\(element 4, .*\n.*\.c:30  \|  for "):
        run(0, 4)
    with pytest.raises(ffgrad.SignatureError, match=r"reads outside of `x`, .*\(element -1, "):
        run(-1, 3)
    run(3, 0)


FAR = """\
double far(const double *x, const long *index, int n, int m) {
    double sum = 0;
    for (int i = 0; i < m; i++)
        sum += x[index[i]];
    return sum;
}
"""


@pytest.mark.usefixtures("cache")
def test_what_is_far_outside_has_its_line_too(write: Write) -> None:
    """No guard is that large."""
    far = enzyme(write(FAR), "far", "x[n], index[m] -> return", bounds="check")
    assert far(X, np.array([0, 3])) == 5.0
    with pytest.raises(ffgrad.SignatureError, match=r"far outside of its arrays.*\n.*\.c:4  \|  sum \+= x"):
        far(X, np.array([0, 1 << 40]))


@pytest.mark.usefixtures("cache")
def test_each_element_of_a_batch_is_looked_at(write: Write) -> None:
    """The third one reads what the others do not."""
    picked = enzyme(write(SOURCE), "picked", "x[n], index[...,m] -> return[...]", bounds="check")
    index = np.array([[0, 1], [2, 3], [3, 4], [0, 0]], np.int32)
    with pytest.raises(ffgrad.SignatureError, match=r"reads outside of `x`, .*\(element 4, "):
        picked(X, index)
    assert picked(X, index[:2]).tolist() == [5.0, 25.0]


VECTORS = """\
#include <algorithm>
#include <vector>
static double second(const double *from, int n) {
    std::vector<double> all(n);
    std::copy(from,
              from + n, all.begin());
    return all[1];
}
extern "C" double seconds(const double *x, int n, int m) {
    double sum = 0;
    for (int i = 0; i < m; i++)
        sum += second(x + i, n - 1);
    return sum;
}
"""


@pytest.mark.usefixtures("cache")
def test_code_of_a_library_has_the_line_of_its_caller(write: Write) -> None:
    """``std::copy`` reads behind the array."""
    f = enzyme(write(VECTORS, "v.cpp"), "seconds", "x[n], m -> return", bounds="check")
    assert f(X, 2) == 5.0
    with pytest.raises(ffgrad.SignatureError, match=r"reads outside of `x`, .*\n +v\.cpp:[56]  \|"):
        f(X, 3)


KERNEL = """\
__global__ void gathered(const double *x, const int *from, double *y, int n, int m) {
  __shared__ double tile[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < m ? x[from[i]] : 0;
  __syncthreads();
  if (i < m) y[i] = tile[threadIdx.x] * tile[(threadIdx.x + 1) % blockDim.x];
}
"""


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("differentiated", [False, True])
def test_kernels_are_looked_at(write: Write, differentiated: bool) -> None:
    """On the CPU as a device, with barriers."""
    kernel = enzyme(write(KERNEL, "k.cu"), "gathered", "x[n], from[m] -> y[m]", block=32, bounds="check")

    def run(*index: int) -> np.ndarray:
        given = np.array(index, np.int32)
        return kernel.vjp(X, given)[1](np.ones(len(index)))[0] if differentiated else kernel(X, given)

    assert run(0, 3).shape == ((4,) if differentiated else (2,))
    with pytest.raises(
        ffgrad.SignatureError, match=r"`gathered` reads outside of `x`, .*\(element 7, .*\n +k\.cu:4  \|"
    ):
        run(0, 7)


@pytest.mark.usefixtures("cache")
def test_what_the_function_throws_is_thrown(write: Write) -> None:
    """And what ends its process is an error."""
    source = """
        #include <cstdlib>
        #include <stdexcept>
        extern "C" double picky(double x) {
            if (x < 0) throw std::domain_error("negative");
            if (x > 10) std::abort();
            return x * x;
        }"""
    picky = enzyme(write(source, "p.cpp"), "picky", "x -> return", bounds="check")
    assert picky(3.0) == 9.0
    with pytest.raises(ffgrad.ForeignError, match="negative"):
        picky(-1.0)
    with pytest.raises(ffgrad.ForeignError, match=r"`picky` itself crashed \(abort"):
        picky(11.0)


def test_loops_over_steps_and_ranks_are_refused(write: Write) -> None:
    """Their calls are made elsewhere."""
    with pytest.raises(ffgrad.Error, match=r'bounds="check" and `repeat` do not go together'):
        enzyme(write(FAR), "far", "x[n], index[m] -> return", bounds="check", repeat="t")
    with pytest.raises(ffgrad.Error, match=r'bounds="check" and `mpi` do not go together'):
        enzyme(write(FAR), "far", "x[n], index[m] -> return", bounds="check", mpi=True)
    with pytest.raises(ffgrad.Error, match=r'`bounds` is "always"; it takes "once" or "check"'):
        enzyme(write(FAR), "far", "x[n], index[m] -> return", bounds="always")


@pytest.mark.usefixtures("cache")
def test_without_a_prover_there_is_a_warning(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else says that the bounds are not looked at."""
    far = enzyme(write(FAR), "far", "x[n], index[m] -> return", bounds="check")
    monkeypatch.setenv("FFGRAD_PROVER", "none")
    with pytest.warns(ffgrad.GradientWarning, match="the bounds of `far` are not checked"):
        assert far(X, np.array([0, 3])) == 5.0
