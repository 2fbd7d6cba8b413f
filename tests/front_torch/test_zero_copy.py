"""Contiguous tensors are passed without a copy: the foreign code sees torch's own addresses."""

from __future__ import annotations

import ffgrad
import pytest
import torch
from ffgrad.torch import Enzyme
from support.fixtures import Compile
from support.programs import CUBE, PAIR, PAIR_SIGNATURE

# Stores the address of its input.
WHERE = """\
#include <stdint.h>
void where(const double* x, int n, double* y, unsigned long long* address) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i];
  *address = (unsigned long long)(uintptr_t)x;
}
"""

# Stores the addresses of its output and of the array that it updates.
WHERE_OUT = """\
#include <stdint.h>
void where_out(double* u, int n, double* y, unsigned long long* address) {
  for (int i = 0; i < n; i++) { u[i] += 1; y[i] = 2 * u[i]; }
  address[0] = (unsigned long long)(uintptr_t)y;
  address[1] = (unsigned long long)(uintptr_t)u;
}
"""


@pytest.fixture
def where(compile_source: Compile) -> Enzyme:
    """(x**2, address of x)."""
    return compile_source(WHERE, "where", "x[n] -> y[n], address[1]")


def test_the_foreign_code_reads_the_tensors_own_memory(where: Enzyme) -> None:
    """Without a gradient, and with one."""
    x = torch.randn(16, dtype=torch.float64)
    _, address = where.apply(x)
    assert address.item() == x.data_ptr()
    _, address = where.apply(x.requires_grad_())
    assert address.item() == x.data_ptr()


def test_a_contiguous_view_is_not_copied(where: Enzyme) -> None:
    """An offset into a larger tensor, a row of a matrix, a reshaped one."""
    x = torch.randn(16, dtype=torch.float64)
    assert where.apply(x[1:])[1].item() == x.data_ptr() + 8
    matrix = x.reshape(4, 4)
    assert where.apply(matrix[2])[1].item() == x.data_ptr() + 8 * 8
    assert where.apply(matrix.flatten())[1].item() == x.data_ptr()


def test_an_output_is_written_to_the_tensors_memory(compile_source: Compile) -> None:
    """Outputs are torch's allocations from the start; an updated argument works on its copy."""
    where_out = compile_source(WHERE_OUT, "where_out", "u[n] -> u[n], y[n], address[2]")
    u = torch.randn(6, dtype=torch.float64)
    updated, y, address = where_out.apply(u)
    assert address.tolist() == [y.data_ptr(), updated.data_ptr()]
    assert updated.data_ptr() != u.data_ptr()
    torch.testing.assert_close(updated, u + 1)


def test_a_strided_view_is_copied(where: Enzyme) -> None:
    """Once, and the values are right."""
    x = torch.randn(16, dtype=torch.float64)
    before = ffgrad.copies()["gathered"]
    y, address = where.apply(x[::2])
    assert address.item() != x.data_ptr()
    assert ffgrad.copies()["gathered"] - before == 8 * 8
    torch.testing.assert_close(y, x[::2] ** 2)


def test_a_dimension_of_extent_one_does_not_make_a_copy(compile_source: Compile) -> None:
    """Any stride of it is contiguous."""
    cube = compile_source(CUBE, "cube", "x[m,k] -> y[m,k]", sizes={"n": 5})
    column = torch.randn(1, 5, dtype=torch.float64).as_strided((1, 5), (99, 1))
    before = ffgrad.copies()
    cube.apply(column)
    assert ffgrad.copies() == before


def test_forward_calls_with_contiguous_inputs_copy_nothing(compile_source: Compile) -> None:
    """The counters stand still, with grad mode and without."""
    pair = compile_source(PAIR, "pair", PAIR_SIGNATURE)
    a, b = (torch.randn(8, dtype=torch.float64, requires_grad=True) for _ in range(2))
    pair.apply(a, b)  # the check of the first call copies
    before = ffgrad.copies()
    for _ in range(5):
        pair.apply(a, b)
        with torch.no_grad():
            pair.apply(a, b)
    assert ffgrad.copies() == before


def test_a_backward_call_copies_the_cotangents_and_no_input(compile_source: Compile) -> None:
    """The reverse mode consumes the shadows of outputs, so they are copied once each, and counted."""
    cube = compile_source(CUBE, "cube")
    x = torch.randn(8, dtype=torch.float64, requires_grad=True)
    y = cube.apply(x)
    before = ffgrad.copies()
    y.backward(torch.ones_like(y))
    after = ffgrad.copies()
    assert {name: after[name] - before[name] for name in after} == {"gathered": 0, "in_place": 0, "cotangents": 8 * 8}
