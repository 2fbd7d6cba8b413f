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
        ("accelerations", None, (X, X, X), r"outside of `pos`, which is taken for 4 elements by default"),
        ("polynomial", None, (X, 0.5), r"outside of `c`, which is taken for 4 elements by default"),
        ("product", "A[m], B[m], k, n -> C[m]", (X, X, 2, 2), r"outside of `A`, which has 4 elements in this call"),
        ("powers", "a -> y", (2.0,), r"outside of `y`, which has 1 element in this call"),
        (
            "picked",
            "x[n], index[m] -> return",
            (X, np.array([0, 9], np.int32)),
            r"outside of `x`.*or an index is out of range",
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
