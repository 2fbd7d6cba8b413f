"""Functions that return a status beside what they compute: an integer or a truth value without derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write

SOURCE = """
#include <stdbool.h>
#include <stdint.h>
int code(const double* x, double* y) { *y = x[0] * x[1]; return x[0] > 1 ? 3 : -2; }
bool truth(const double* x, double* y) { *y = x[0] * x[1]; return x[0] > 1; }
int8_t small(const double* x, double* y) { *y = x[0] * x[1]; return x[0] > 1 ? 100 : -100; }
uint16_t word(const double* x, double* y) { *y = x[0] * x[1]; return x[0] > 1 ? 65535 : 0; }
long count(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i];
  return n;
}
"""


@pytest.mark.parametrize(
    "name, high, low",
    [
        ("code", np.int32(3), -2),
        ("truth", np.True_, False),
        ("small", np.int8(100), -100),
        ("word", np.uint16(65535), 0),
    ],
)
def test_a_status_comes_back_beside_values_and_derivatives(write: Write, name: str, high: Any, low: int) -> None:
    """In every mode; its own tangent is ``None``, and its cotangent is not asked for."""
    f = enzyme(write(SOURCE), name, "x[2] -> y[1], return")
    x, one = np.array([2.0, 3.0]), np.ones(1)
    for at, status in ((x, high), (-x, low)):
        y, got = f(at)
        assert y == 6 and got == status and type(got) is type(high)
        (y, got), pull = f.vjp(at)
        np.testing.assert_array_equal(pull((one, None))[0], at[::-1])
        assert got == status
        (y, got), (moved, none) = f.jvp((at,), (np.ones(2),))
        assert (moved[0], none, got) == (at.sum(), None, status)
        np.testing.assert_array_equal(f.hvp(at, np.array([1.0, 2.0]), (one, None)), [2.0, 1.0])


def test_a_status_beside_sizes(write: Write) -> None:
    """Where integers are parameters, too."""
    f = enzyme(write(SOURCE), "count", "x[n] -> y[n], return")
    y, n = f(np.arange(5.0))
    assert n == 5
    np.testing.assert_array_equal(f.vjp(np.arange(5.0))[1]((np.ones(5), None))[0], 2 * np.arange(5.0))
    np.testing.assert_array_equal(y, np.arange(5.0) ** 2)


def test_a_function_of_fortran_returns_its_status(write: Write) -> None:
    """As ``info`` of LAPACK is written where it is a function."""
    source = write(
        "integer function solve(a, b, x) result(info)\n  real(8), intent(in) :: a, b\n  real(8), intent(out) :: x\n"
        "  info = 0\n  x = 0\n  if (a == 0) then\n    info = 1\n  else\n    x = b / a\n  end if\nend function\n",
        "solve.f90",
    )
    f = enzyme(source, "solve", "a, b -> x, return")
    (x, info), pull = f.vjp(2.0, 6.0)
    assert (float(x), int(info)) == (3, 0)
    assert [float(g) for g in pull((1.0, None))] == [-1.5, 0.5]
    assert int(f(0.0, 1.0)[1]) == 1
