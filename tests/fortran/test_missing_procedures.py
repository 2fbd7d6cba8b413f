"""Procedures that no source has: all are named at once; one that its module keeps private is said to be so."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from ffgrad.errors import DifferentiationError
from ffgrad.torch import Enzyme

Compile = Callable[..., Enzyme]

MISSING = """      subroutine top(x, n, y)
      double precision x(n), y, z
      integer n
      call inner(x, n, z)
      if (z .lt. -5d0) call report('negative', 8)
      y = z * z
      end
"""

PRIVATE = """module parts
  private
  public :: shown
contains
  subroutine inner(x, y)
    real(8) :: x, y
    y = x * x
  end subroutine
  subroutine shown(x, y)
    real(8) :: x, y
    call inner(x, y)
  end subroutine
end module
subroutine top(x, y)
  use parts
  real(8) :: x, y
  call inner(x, y)
end subroutine
"""


def test_what_only_prints_is_named_too(compile_source: Compile) -> None:
    """Enzyme asks for the first alone; the linker would ask for the other after it."""
    f = compile_source(MISSING, "top", "x[n] -> y", name="top.f")
    with pytest.raises(DifferentiationError, match=r"(?s)`inner_`, which has no body.*none either: `report_`"):
        f(torch.ones(3, dtype=torch.float64, requires_grad=True)).backward()


def test_a_private_procedure_is_said_to_be_private(compile_source: Compile) -> None:
    """That `use` stands there already."""
    f = compile_source(PRIVATE, "top", "x -> y", name="top.f90")
    with pytest.raises(DifferentiationError, match="keeps it private"):
        f(torch.tensor(2.0, dtype=torch.float64, requires_grad=True)).backward()
