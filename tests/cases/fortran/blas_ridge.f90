! Ridge regression by the normal equations: dsyrk's work done by dgemm, dgemv, dpotrf and dpotrs, ddot, dnrm2.
subroutine ridge(a, b, lambda, m, n, x, misfit)
  implicit none
  integer, intent(in) :: m, n
  real(8), intent(in) :: a(m, n), b(m), lambda
  real(8), intent(out) :: x(n), misfit
  real(8) :: normal(n, n), r(m)
  real(8), external :: ddot, dnrm2
  external :: dgemm, dgemv, dpotrf, dpotrs, daxpy
  integer :: i, info
  call dgemm('T', 'N', n, n, m, 1d0, a, m, a, m, 0d0, normal, n)
  do i = 1, n
    normal(i, i) = normal(i, i) + lambda
  end do
  call dgemv('T', m, n, 1d0, a, m, b, 1, 0d0, x, 1)
  call dpotrf('L', n, normal, n, info)
  call dpotrs('L', n, 1, normal, n, x, n, info)
  r = -b
  call dgemv('N', m, n, 1d0, a, m, x, 1, 1d0, r, 1)
  misfit = 0.5d0 * ddot(m, r, 1, r, 1) + lambda * dnrm2(n, x, 1)
end subroutine
