"""Objects of derived type: default values, allocatable parts, finalizers, copies, types known at run time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from ffgrad.errors import DifferentiationError
from ffgrad.torch import Enzyme

Compile = Callable[..., Enzyme]


def compare(f: Enzyme, x: torch.Tensor, expected: torch.Tensor) -> None:
    """Compare the value and the gradient with those of PyTorch's own formula."""
    (gradient,) = torch.autograd.grad(expected, x)
    y = f(x)
    y.backward()
    assert torch.allclose(y, expected) and x.grad is not None and torch.allclose(x.grad, gradient)


CELLS = """module m
  type cell
    real(8) :: v = 1
    real(8), allocatable :: w(:)
{more}  end type
contains
{procedures}  subroutine f(x, y)
    real(8), intent(in) :: x
    real(8), intent(out) :: y
    type(cell), allocatable :: c(:)
    allocate(c(2))
    c(1)%v = x
    allocate(c(1)%w(3))
    c(1)%w = x
    y = c(1)%v * c(2)%v * sum(c(1)%w)
  end subroutine
end module
"""


def test_an_array_of_a_type_with_allocatable_parts_has_a_gradient(compile_source: Compile) -> None:
    """The second element has the default value."""
    f = compile_source(CELLS.format(more="", procedures=""), "m::f", name="f.f90")
    x = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    compare(f, x, 3 * x * x)


def test_a_type_with_a_finalizer_is_refused(compile_source: Compile) -> None:
    """It would run in a derivative."""
    finalizer = "  subroutine close(self)\n    type(cell), intent(inout) :: self\n    self%v = 0\n  end subroutine\n"
    f = compile_source(
        CELLS.format(more="  contains\n    final :: close\n", procedures=finalizer), "m::f", name="f.f90"
    )
    with pytest.raises(DifferentiationError) as caught:
        f(torch.ones((), dtype=torch.float64, requires_grad=True))
    assert caught.value.code == "fortran-runtime"


def test_an_assignment_of_a_type_copies_its_allocatable_parts(compile_source: Compile) -> None:
    """They are not shared, also where a shorter one was there before."""
    f = compile_source(
        "subroutine f(x, y)\n  type cell\n    real(8), allocatable :: v(:)\n  end type\n  real(8), intent(in) :: x(:)\n"
        "  real(8), intent(out) :: y\n  type(cell) :: a, b\n  a%v = x**2\n  b%v = x(1:1)\n  b = a\n  a%v(1) = 0\n"
        "  y = sum(b%v)\nend subroutine\n",
        "f",
        name="f.f90",
    )
    x = torch.linspace(1, 2, 3, dtype=torch.float64, requires_grad=True)
    compare(f, x, (x**2).sum())


def test_an_assignment_of_a_type_with_allocatable_objects_is_refused_with_its_line(compile_source: Compile) -> None:
    """The objects would be shared, or lost."""
    f = compile_source(
        "subroutine f(x, y)\n  type part\n    real(8) :: v\n  end type\n  type cell\n    type(part), allocatable :: p(:)\n  end type\n"
        "  real(8), intent(in) :: x(:)\n  real(8), intent(out) :: y\n  type(cell) :: a, b\n  allocate(a%p(2))\n"
        "  a%p(1)%v = x(1)\n  a%p(2)%v = x(2)**2\n  b = a\n  y = b%p(1)%v * b%p(2)%v\nend subroutine\n",
        "f",
        name="f.f90",
    )
    with pytest.raises(DifferentiationError, match="derived type") as caught:
        f(torch.ones(3, dtype=torch.float64, requires_grad=True))
    assert caught.value.code == "fortran-runtime" and caught.value.line == 14


POLYMORPHIC_SOURCE = """\
module shapes
  implicit none
  type :: disc
    real(8) :: r = 1.0d0
  contains
    procedure :: area => disc_area
  end type
  type, extends(disc) :: ring
    real(8) :: holes(3) = 0.0d0
  contains
    procedure :: area => ring_area
  end type
contains
  real(8) function disc_area(s)
    class(disc), intent(in) :: s
    disc_area = s%r**2
  end function
  real(8) function ring_area(s)
    class(ring), intent(in) :: s
    ring_area = s%r**2 - sum(s%holes**2)
  end function
  subroutine total(x, y)
    real(8), intent(in) :: x(:)
    real(8), intent(out) :: y
    class(disc), allocatable :: any
    type(ring) :: r
    type(disc) :: d
    integer :: i
    y = 0
    do i = 1, size(x)
      r%r = 3 * x(i)
      r%holes = [x(i), 0.5d0 * x(i), x(1)]
      d%r = x(i)
      allocate(any, source=r)
      y = y + any%area()
      deallocate(any)
      allocate(any, source=d)
      y = y + any%area()
      deallocate(any)
    end do
  end subroutine
end module
"""


def test_a_polymorphic_variable_takes_the_type_and_the_size_of_its_source(compile_source: Compile) -> None:
    """Its procedures are those of that type."""
    f = compile_source(POLYMORPHIC_SOURCE, "shapes::total", name="f.f90")
    x = torch.linspace(1, 2, 3, dtype=torch.float64, requires_grad=True)
    compare(f, x, (10 * x**2 - 1.25 * x**2 - x[0] ** 2).sum())


def test_an_intent_out_argument_with_allocatable_parts_begins_empty(compile_source: Compile) -> None:
    """What it had is released once, and filled again."""
    f = compile_source(
        "module m\n  type cell\n    real(8), allocatable :: v(:)\n    real(8) :: w = 2.0d0\n  end type\ncontains\n"
        "  subroutine fill(c, x)\n    type(cell), intent(out) :: c\n    real(8), intent(in) :: x(:)\n"
        "    if (.not. allocated(c%v)) allocate(c%v(size(x)))\n    c%v = c%w * x**2\n    c%w = x(1)\n  end subroutine\n"
        "  subroutine f(x, y)\n    real(8), intent(in) :: x(:)\n    real(8), intent(out) :: y\n    type(cell) :: c\n"
        "    call fill(c, x)\n    call fill(c, 3 * x(1:2))\n    y = sum(c%v) * c%w\n  end subroutine\nend module\n",
        "m::f",
        name="f.f90",
    )
    x = torch.linspace(1, 2, 3, dtype=torch.float64, requires_grad=True)
    compare(f, x, (2 * (3 * x[:2]) ** 2).sum() * 3 * x[0])
