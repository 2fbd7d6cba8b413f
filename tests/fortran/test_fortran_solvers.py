"""Solvers as old Fortran libraries write them: unused procedure arguments, matrices made of differences, COMMON beside rules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ffgrad import implicit
from ffgrad.numpy import Enzyme, enzyme

# Newton's method for two equations. With `given` 2 it makes the matrix itself, and `jac` is never called: users pass the other procedure again.
ROOTS = """\
subroutine equations(n, x, f)
  integer n
  real(8) x(n), f(n), p, q
  common /given/ p, q
  f(1) = x(1)**2 + x(2)**2 - p
  f(2) = x(1) * x(2) - q
end subroutine
subroutine roots(fcn, jac, given, n, x)
  integer given, n, k, j
  real(8) x(n), f(2), g(2), a(2, 2), h, d
  external fcn, jac
  do k = 1, 30
    call fcn(n, x, f)
    if (given .eq. 1) then
      call jac(n, x, f, a, n)
    else
      do j = 1, n
        h = 1d-7 * max(abs(x(j)), 1d0)
        x(j) = x(j) + h
        call fcn(n, x, g)
        x(j) = x(j) - h
        a(:, j) = (g - f) / h
      end do
    end if
    d = a(1, 1) * a(2, 2) - a(1, 2) * a(2, 1)
    x(1) = x(1) - (a(2, 2) * f(1) - a(1, 2) * f(2)) / d
    x(2) = x(2) - (a(1, 1) * f(2) - a(2, 1) * f(1)) / d
  end do
end subroutine
subroutine circle(a, b, x)
  real(8), intent(in) :: a, b
  real(8), intent(out) :: x(2)
  real(8) p, q
  common /given/ p, q
  external equations
  p = a
  q = b
  x = [2d0, 0.5d0]
  call roots(equations, equations, 2, 2, x)
end subroutine
"""

# Steps of the implicit Euler method for y' = -k y**2, with VODE's name for what makes the matrix, and as many arguments: differences over a
# step of 1e-15 and less.
STIFF = """\
subroutine rate(y, yd)
  real(8) y, yd, k
  common /rates/ k
  yd = -k * y * y
end subroutine
subroutine dvjac(y, yh, ldyh, ewt, ftem, savf, wm, iwm, f_of, jac, h, ipar)
  integer ldyh, iwm(1), ipar(1)
  real(8) y, yh(1), ewt(1), ftem(1), savf(1), h, wm, r, f, g
  external f_of, jac
  r = 1d-15 * max(abs(y), 1d-3)
  call rate(y, f)
  call rate(y + r, g)
  wm = 1 - h * (g - f) / (y + r - y)
end subroutine
subroutine decay(rate_of, t, y)
  real(8), intent(in) :: rate_of, t
  real(8), intent(out) :: y
  real(8) k, h, old, yd, wm, work(1)
  integer i, m, number(1)
  external rate
  common /rates/ k
  k = rate_of
  y = 1
  h = t / 20
  do i = 1, 20
    old = y
    call dvjac(y, work, 1, work, work, work, wm, number, rate, rate, h, number)
    do m = 1, 40
      call rate(y, yd)
      y = y - (y - old - h * yd) / wm
    end do
  end do
end subroutine
"""

# The solver keeps the data in COMMON; the rule does not look at it.
FIT = """\
real(8) function cost(x, n, p)
  integer n, i
  real(8) x(n), p(5)
  cost = 0
  do i = 1, 5
    cost = cost + (x(1) * exp(-x(2) * 0.2d0 * i) - p(i))**2
  end do
end function
subroutine slope(x, g)
  real(8) x(2), g(2), y(5), e, r
  integer i
  common /measured/ y
  g = 0
  do i = 1, 5
    e = exp(-x(2) * 0.2d0 * i)
    r = x(1) * e - y(i)
    g(1) = g(1) + 2 * r * e
    g(2) = g(2) - 2 * r * x(1) * e * 0.2d0 * i
  end do
end subroutine
subroutine fit(x, n, p)
  integer n, k
  real(8) x(n), p(5), y(5), g(2)
  common /measured/ y
  y = p
  do k = 1, 20000
    call slope(x, g)
    x = x - 0.2d0 * g
  end do
end subroutine
subroutine fitted(p, x)
  real(8), intent(in) :: p(5)
  real(8), intent(out) :: x(2)
  x = [1d0, 1d0]
  call fit(x, 2, p)
end subroutine
"""


@pytest.fixture
def write(tmp_path: Path) -> Path:
    """Files that the tests open."""
    for name, text in {"roots": ROOTS, "stiff": STIFF, "fit": FIT}.items():
        (tmp_path / f"{name}.f90").write_text(text)
    return tmp_path


def differences(f: Enzyme, *args: float) -> np.ndarray:
    """Central differences by scalar arguments, in columns."""
    columns = []
    for i, value in enumerate(args):
        h = 1e-5 * abs(value)
        ends = [np.asarray(f(*args[:i], value + s * h, *args[i + 1 :])) for s in (1, -1)]
        columns.append((ends[0] - ends[1]) / (2 * h))
    return np.stack(columns, axis=-1)


def test_a_procedure_in_the_place_of_one_with_more_arguments_is_never_called(write: Path) -> None:
    """COMMON reaches the equations, which are known to be all that is called."""
    f = enzyme(write / "roots.f90", "circle", "a, b -> x[2]")
    x, y = f(4.0, 0.7)
    by = np.linalg.inv([[2 * x, 2 * y], [y, x]])
    np.testing.assert_allclose(np.stack(f.jacobian(4.0, 0.7, argnums=(0, 1)), axis=-1), by, rtol=1e-9)
    np.testing.assert_allclose(f.jvp((4.0, 0.7), (1.0, -2.0))[1], by @ [1.0, -2.0], rtol=1e-9)


def test_the_matrix_of_newtons_method_is_constant(write: Path) -> None:
    """The adjoint of a difference over 1e-15 would be rounding."""
    f = enzyme(write / "stiff.f90", "decay", "rate_of, t -> y")
    _, (by_rate, by_time) = f.value_and_grad(0.8, 2.0, argnums=(0, 1))
    np.testing.assert_allclose([by_rate, by_time], differences(f, 0.8, 2.0), rtol=1e-7)
    # The solution depends on their product.
    np.testing.assert_allclose(by_rate * 0.8, by_time * 2.0, rtol=1e-12)


def test_another_procedure_of_that_name_is_differentiated(tmp_path: Path) -> None:
    """A user's own `pjac` of two arguments has nothing to do with Newton's method."""
    source = tmp_path / "pjac.f90"
    source.write_text(
        """
        subroutine pjac(x, y)
          real(8) x, y
          y = sin(x) * x
        end subroutine
        subroutine use_it(x, y)
          real(8), intent(in) :: x
          real(8), intent(out) :: y
          call pjac(x, y)
          y = y + x
        end subroutine
        """
    )
    f = enzyme(source, "use_it", "x -> y")
    np.testing.assert_allclose(f.grad(0.7), np.cos(0.7) * 0.7 + np.sin(0.7) + 1, rtol=1e-14)


def test_a_function_is_marked_inactive_by_its_fortran_name(write: Path) -> None:
    """In small letters, in capitals, and as the symbol."""
    names = ("rate", "RATE", "rate_")
    for name in names:
        f = enzyme(write / "stiff.f90", "decay", "rate_of, t -> y", inactive=[name], verify="off")
        assert f.grad(0.8, 2.0) == 0


def test_a_minimiser_may_keep_its_data_in_common(write: Path) -> None:
    """Its rule asks for a gradient of the objective itself."""
    f = enzyme(
        write / "fit.f90", "fitted", "p[5] -> x[2]", derivatives={"fit": implicit("cost", kind="minimum", size="n")}
    )
    p = 2 * np.exp(-0.14 * np.arange(1, 6)) + 0.03 * np.cos(np.arange(5))
    h = 1e-4
    by = np.stack([(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(5)], axis=-1)
    np.testing.assert_allclose(f.jacobian(p), by, atol=1e-6)
