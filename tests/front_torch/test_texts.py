"""Texts as arguments in PyTorch."""

from __future__ import annotations

import pytest
import torch
from ffgrad.errors import DtypeError
from ffgrad.torch import enzyme
from support.fixtures import Write

SOURCE = """
double f(const char *kind, const double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += kind[0] == 's' ? x[i] * x[i] : x[i];
  return s;
}
"""


def test_a_text_is_a_constant_of_eager_and_dispatched_calls(write: Write) -> None:
    """By the fast path, and where a transform needs the operator."""
    f = enzyme(write(SOURCE), "f", "kind, x[n] -> return")
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    f("squares", x).backward()
    assert torch.equal(x.grad, 2 * x.detach())
    assert torch.equal(torch.func.grad(lambda x: f("plain", x) + f("", x))(x.detach()), torch.full((2,), 2.0).double())


def test_a_text_for_numbers_is_refused(write: Write) -> None:
    """By name."""
    f = enzyme(write(SOURCE), "f", "kind, x[n] -> return")
    with pytest.raises(DtypeError, match="`x` of `f` cannot be given as a text"):
        f("s", "x")
