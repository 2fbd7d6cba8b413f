! Output in between, list-directed and formatted: no part of the derivative.
subroutine chatty(x, n, y)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n)
  integer :: i
  y = 0
  do i = 1, n
    y(i) = exp(0.3d0 * x(i)) * i
  end do
  print *, 'sum of y:', sum(y), n
  write(*, '(a, f8.3)') 'first', y(1)
end subroutine
