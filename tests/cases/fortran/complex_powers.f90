! Powers of complex numbers with integer exponents that are not constant, of both kinds and signs: a power series, and a Laurent series.
subroutine complex_powers(x, y, n, series)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n), y(n)
  real(8), intent(out) :: series(2)
  complex(8) :: z, total
  integer :: i, k
  integer(8) :: last
  total = (0d0, 0d0)
  last = n
  do i = 1, n
    z = cmplx(x(i), y(i) + 2d0, 8)
    do k = -2, n
      total = total + z**k / (k * k + 1)
    end do
    total = total + 0.1d0 * z**last
  end do
  series(1) = real(total)
  series(2) = aimag(total)
end subroutine
