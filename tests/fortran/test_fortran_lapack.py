"""A driver of LAPACK's in Fortran, in a folder: by its caller, and as the function itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ffgrad.numpy import enzyme

# Elimination that skips zeros: where there are some, its code does not depend on them, and its derivative is wrong.
FILES = {
    "dgesv.f": """\
      subroutine dgesv(n, nrhs, a, lda, ipiv, b, ldb, info)
      integer info, lda, ldb, n, nrhs, ipiv(*)
      double precision a(lda, *), b(ldb, *)
      external dgetrf, dgetrs
      info = 0
      call dgetrf(n, n, a, lda, ipiv, info)
      call dgetrs('N', n, nrhs, a, lda, ipiv, b, ldb, info)
      end
""",
    "dgetrf.f": """\
      subroutine dgetrf(m, n, a, lda, ipiv, info)
      integer info, lda, m, n, ipiv(*), i, k, j
      double precision a(lda, *)
      do k = 1, n
        ipiv(k) = k
        do i = k + 1, m
          if (a(i, k) .ne. 0) then
            a(i, k) = a(i, k) / a(k, k)
            do j = k + 1, n
              a(i, j) = a(i, j) - a(i, k) * a(k, j)
            end do
          end if
        end do
      end do
      info = 0
      end
""",
    "dgetrs.f": """\
      subroutine dgetrs(trans, n, nrhs, a, lda, ipiv, b, ldb, info)
      character trans
      integer info, lda, ldb, n, nrhs, ipiv(*), i, j, k
      double precision a(lda, *), b(ldb, *)
      do j = 1, nrhs
        do i = 1, n
          do k = 1, i - 1
            if (a(i, k) .eq. 0) cycle
            b(i, j) = b(i, j) - a(i, k) * b(k, j)
          end do
        end do
        do i = n, 1, -1
          do k = i + 1, n
            if (a(i, k) .eq. 0) cycle
            b(i, j) = b(i, j) - a(i, k) * b(k, j)
          end do
          b(i, j) = b(i, j) / a(i, i)
        end do
      end do
      info = 0
      end
""",
    "solve.f90": """\
subroutine solve(n, a, b, x)
  integer, intent(in) :: n
  real(8), intent(in) :: a(n, n), b(n)
  real(8), intent(out) :: x(n)
  real(8) :: c(n, n)
  integer :: info, ipiv(n)
  c = a
  x = b
  call dgesv(n, 1, c, n, ipiv, x, n, info)
end subroutine
""",
}
A = np.asfortranarray(np.diag([2.0, 3.0, 4.0]))
B = np.array([1.0, 2.0, 3.0])
COTANGENT = np.array([1.0, -1.0, 0.5])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With these files."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def check(by_a: np.ndarray, by_b: np.ndarray) -> None:
    """Of A x = b."""
    y = np.linalg.solve(A.T, COTANGENT)
    np.testing.assert_allclose(by_a, -np.outer(y, np.linalg.solve(A, B)), rtol=1e-12)
    np.testing.assert_allclose(by_b, y, rtol=1e-12)


def test_a_caller_gets_the_rule(folder: Path) -> None:
    """With zeros in the matrix, which the code skips."""
    f = enzyme(folder, "solve", "a, b -> x")
    x, pullback = f.vjp(A, B)
    np.testing.assert_allclose(x, np.linalg.solve(A, B), rtol=1e-12)
    check(*pullback(COTANGENT))


def test_the_driver_itself_gets_the_rule(folder: Path) -> None:
    """It is differentiated without a caller; the factors are not used."""
    f = enzyme(folder, "dgesv", "n, nrhs, a[lda,n], b[ldb,nrhs] -> a[lda,n], ipiv[n], b[ldb,nrhs], info")
    (_, _, x, _), pullback = f.vjp(3, 1, A, np.asfortranarray(B[:, None]))
    np.testing.assert_allclose(x[:, 0], np.linalg.solve(A, B), rtol=1e-12)
    gradients = pullback((np.zeros((3, 3), order="F"), None, np.asfortranarray(COTANGENT[:, None]), None))
    check(gradients[2], gradients[3][:, 0])
