"""Texts, truth values and integer results of Fortran procedures."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ffgrad.errors import DtypeError
from ffgrad.numpy import enzyme
from torture.faults.kills import ffgrad_command

Write = Callable[..., Path]

SOURCE = """
subroutine quad(a, b, val, err, neval, ierr)
  real(8), intent(in) :: a, b
  real(8), intent(out) :: val, err
  integer, intent(out) :: neval, ierr
  val = b**3 - a**3
  err = 1d-3 * val
  neval = 21
  ierr = 0
end subroutine
subroutine old(uplo, n, x, trans, y, info)
  character*1 uplo
  character*(*) trans
  integer n, info
  real(8) x(n), y
  info = len(trans)
  if (uplo .eq. 'U') then
    y = sum(x**2)
  else
    y = x(1)
  end if
  if (trans .eq. 'no') y = 2 * y
end subroutine
real(8) function padded(kind, x, flag) result(y)
  character(len=8), intent(in) :: kind
  real(8), intent(in) :: x(:)
  logical, intent(in) :: flag
  y = 0
  if (kind == 'squares') y = sum(x * x)
  if (flag) y = 3 * y
end function
"""


@pytest.fixture
def source(write: Write) -> Path:
    """Return the file."""
    return write(SOURCE, "f.f90")


def test_results_are_returned_or_dropped(source: Path) -> None:
    """All without a signature, those that it names with one."""
    assert [float(y) for y in enzyme(source, "quad")(1.0, 2.0)] == [7.0, 0.007, 21.0, 0.0]
    f = enzyme(source, "quad", "a, b -> val")
    assert f(1.0, 2.0) == 7.0
    assert [float(g) for g in f.value_and_grad(1.0, 2.0, argnums=(0, 1))[1]] == [-3.0, 12.0]


def test_texts_of_one_character_and_of_any_length(source: Path) -> None:
    """Behind the arguments stand their lengths, in order."""
    x = np.array([1.0, 2.0])
    f = enzyme(source, "old", "uplo, x, trans -> y, info")
    assert [float(y) for y in f("U", x, "no")] == [10.0, 2.0]
    assert [float(y) for y in f("L", x, "other")] == [1.0, 5.0]
    g = enzyme(source, "old", "uplo, x, trans -> y")
    assert np.allclose(g.grad("U", x, "no", argnums=1), 4 * x)


def test_what_is_updated_in_place_is_named_without_its_shape(write: Write) -> None:
    """On the right of the arrow, in the style of LAPACK."""
    text = """
    subroutine scale(uplo, n, a, lda, info)
      character uplo
      integer n, lda, info
      real(8) a(lda, *)
      info = 0
      if (uplo == 'U') a(1:n, 1:n) = 2 * a(1:n, 1:n)
    end subroutine
    """
    f = enzyme(write(text, "f.f90"), "scale", "uplo, a[lda,n] -> a")
    a = np.arange(6.0).reshape(2, 3, order="F")[:, :2]
    assert np.allclose(f("U", np.asfortranarray(a)), 2 * a)


def test_a_text_is_filled_up_beside_a_descriptor(source: Path) -> None:
    """And one that is too long is refused."""
    f = enzyme(source, "padded")
    x = np.array([1.0, 2.0])
    assert f("squares", x, True) == 15.0
    assert np.allclose(f.grad("squares", x, False, argnums=1), 2 * x)
    with pytest.raises(DtypeError, match="has 9 bytes, and the dummy has 8"):
        f("squares!!", x, True)


def test_joined_characters_are_no_numbers(write: Write) -> None:
    """LLVM makes copies of the loops over their bytes. The first pipeline takes them, so none of the slower ones is needed."""
    text = """
    subroutine warn(message)
      character*(*) message
      write (*, *) message
    end subroutine
    subroutine relax(x, y, n)
      integer, intent(in) :: n
      real(8), intent(in) :: x(n)
      real(8), intent(out) :: y(n)
      character(len=16) :: large, at
      integer i
      do i = 1, n
        if (x(i) > 100) then
          write (large, '(1PE15.6)') x(i)
          write (at, '(I8)') i
          call warn('THE VALUE ' // large // ' IS LARGER THAN ALLOWED, AT THE PLACE WITH THE NUMBER ' // at // &
                    ' OF THE ARRAY THAT WAS GIVEN.  IT IS USED AS IT IS, WHICH MAY NOT BE WHAT IS WANTED HERE.')
        end if
        y(i) = sqrt(1 + x(i)**2)
      end do
    end subroutine
    """
    source = write(text, "relax.f90")
    x = np.array([0.3, -2.0, 5.0])
    f = enzyme(source, "relax", "x[n] -> y[n]")
    np.testing.assert_allclose(f.jacobian(x), np.diag(x / np.sqrt(1 + x**2)), rtol=1e-12)
    shown = subprocess.run(
        [ffgrad_command(), "show", source, "relax", "-s", "x[n] -> y[n]", "--pipeline", "inlined", "--derivative"],
        capture_output=True,
        text=True,
    )
    assert shown.returncode == 0, shown.stderr


def test_what_is_read_has_no_derivative(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Tables from a file, and a number from characters in the place of one that had a derivative. Nothing is printed once more."""
    text = """
    module tables
      real(8) :: factors(3), last(2)
      logical :: have = .false.
    contains
      subroutine load()
        integer i, n, io
        character(40) line
        if (have) return
        open (unit=11, file='factors.txt', status='old', iostat=io)
        if (io /= 0) then
          write (*, *) 'no factors'
          return
        end if
        read (11, *) n
        do i = 1, n
          read (11, *) factors(i)
        end do
        read (11, *) last
        read (11, '(a)') line
        read (line, *) last(2)
        close (11)
        have = .true.
      end subroutine
    end module
    subroutine scaled(x, k, r)
      use tables
      real(8), intent(in) :: x
      integer, intent(in) :: k
      real(8), intent(out) :: r
      real(8) y
      character(8) digits
      if (k > 1) write (*, *) 'a large power', k
      call load()
      y = x*x
      r = x**k*factors(2)*y + x*last(2)
      if (k < 0) then
        y = x**3
        write (digits, '(f6.2)') 7.5d0
        read (digits, *) y
        r = r + y*x
      end if
    end subroutine
    """
    (tmp_path / "factors.txt").write_text("3\n1.0\n5.0\n2.0\n7.0 8.0\n 9.5\n")
    monkeypatch.chdir(tmp_path)
    f = enzyme(write(text, "scaled.f90"), "scaled", "x, k -> r")
    x = 1.3
    assert f(x, 2) == pytest.approx(5 * x**4 + 9.5 * x, rel=1e-14)
    capfd.readouterr()
    assert f.grad(x, 2) == pytest.approx(20 * x**3 + 9.5, rel=1e-13)
    assert f.grad(x, -3) == pytest.approx(-5 / x**2 + 9.5 + 7.5, rel=1e-13)
    assert f.jvp((x, -3), (1.0, None))[1] == pytest.approx(-5 / x**2 + 17, rel=1e-13)


def test_whole_assignments_through_dummies_have_the_rule_for_their_dimensions(write: Write) -> None:
    """Allocatable dummies: new shapes, scalars, overlapping parts, conversions of integers; and messages by the dozen, of the caller's text."""
    messages = "\n".join(f"      case ({k}); text = 'message number {k}{'!' * k}'" for k in range(24))
    text = f"""
    module work
    contains
      subroutine message(code, text)
        integer, intent(in) :: code
        character(len=:), allocatable, intent(out) :: text
        select case (code)
{messages}
        case default; text = 'none'
        end select
      end subroutine
      subroutine shapes(a, x, counts)
        real(8), allocatable, intent(inout) :: a(:)
        real(8), intent(in) :: x(:)
        integer, allocatable, intent(inout) :: counts(:)
        a = x
        a = a(size(a):1:-1)
        a = [a, 2*a(1)]
        counts = [size(a), size(x) - 1]
      end subroutine
    end module
    subroutine sums(x, n, code, y)
      use work
      integer, intent(in) :: n, code
      real(8), intent(in) :: x(n)
      real(8), intent(out) :: y(3)
      real(8), allocatable :: a(:), b(:, :), c(:)
      integer, allocatable :: counts(:)
      character(len=:), allocatable :: text
      call shapes(a, x, counts)
      b = reshape([x, x, x], [n, 3])
      b = 2*transpose(b)
      b(1, :) = b(1, :) + counts(1)*x
      call message(code, text)
      allocate (c(2))
      c = x(1)
      y(1) = sum(a**2) + len(text)*x(2)
      y(2) = sum(b(1, :)**3) + sum(b(3, :))
      y(3) = c(1)*c(2)*counts(2)
    end subroutine
    """
    f = enzyme(write(text, "sums.f90"), "sums", "x[n], code -> y[3]")
    x = np.array([0.7, -1.2, 0.4, 1.9])

    def expected(x: np.ndarray, length: int) -> np.ndarray:
        a = np.concatenate([x[::-1], [2 * x[-1]]])
        first = 2 * x + 5 * x
        return np.array([np.sum(a**2) + length * x[1], np.sum(first**3) + np.sum(2 * x), 3 * x[0] ** 2])

    np.testing.assert_allclose(f(x, 7), expected(x, 23), rtol=1e-13)
    exact = np.array([expected(x + 1e-30j * e, 23).imag / 1e-30 for e in np.eye(4)]).T
    np.testing.assert_allclose(f.jacobian(x, 7), exact, rtol=1e-12)
    np.testing.assert_allclose(f.jacobian(x, 99)[0, 1] - f.jacobian(x, 7)[0, 1], 4 - 23, rtol=1e-12)


def test_allocatables_of_a_module_take_whole_arrays(write: Write) -> None:
    """Their descriptors are global: dimensions and type are those of the value."""
    text = """
    module store
      real(8), allocatable :: a(:), b(:, :)
    end module
    subroutine sums(x, n, code, y)
      use store
      integer, intent(in) :: n, code
      real(8), intent(in) :: x(n)
      real(8), intent(out) :: y(3)
      a = x
      b = reshape([x, x], [n, 2])
      a = 2*a + b(:, 2)
      y(1) = sum(a**2)
      y(2) = a(1)*b(2, 1)*code
      y(3) = a(n)
    end subroutine
    """
    f = enzyme(write(text, "sums.f90"), "sums", "x[n], code -> y[3]")
    for x in (np.array([0.7, -1.2, 0.4, 1.9]), np.array([1.5, 0.3])):
        exact = np.zeros((3, len(x)))
        exact[0], exact[1, :2], exact[2, -1] = 18 * x, 21 * x[1::-1], 3
        np.testing.assert_allclose(f.jacobian(x, 7), exact, rtol=1e-13)


def test_values_of_another_type_are_converted_before_they_are_assigned(write: Write) -> None:
    """The rule takes the type from the value: flang has converted it to the variable's."""
    text = """
    module work
    contains
      subroutine fill(a, b, c, m, k, x)
        real(8), allocatable, intent(inout) :: a(:), b(:)
        complex(8), allocatable, intent(inout) :: c(:)
        integer, allocatable, intent(inout) :: m(:)
        integer, intent(in) :: k(:)
        real(8), intent(in) :: x(:)
        a = k
        b = real(x, 4)
        b = b + 2
        c = x
        m = [1.7d0, 2.9d0]
      end subroutine
    end module
    subroutine converted(x, n, k, y)
      use work
      integer, intent(in) :: n, k
      real(8), intent(in) :: x(n)
      real(8), intent(out) :: y(3)
      real(8), allocatable :: a(:), b(:)
      complex(8), allocatable :: c(:)
      integer, allocatable :: m(:)
      call fill(a, b, c, m, [k, k + 1, k + 2], x)
      y(1) = sum(a)*x(1)**2 + sum(m)*x(2)
      y(2) = sum(b)
      y(3) = real(sum(c*c))
    end subroutine
    """
    f = enzyme(write(text, "converted.f90"), "converted", "x[n], k -> y[3]")
    x = np.array([0.5, -1.25, 0.75])
    np.testing.assert_allclose(f(x, 4), [15 * 0.25 - 3 * 1.25, 6, np.sum(x**2)], rtol=1e-14)
    np.testing.assert_allclose(f.jacobian(x, 4), [[15, 3, 0], [1, 1, 1], 2 * x], rtol=1e-13)
