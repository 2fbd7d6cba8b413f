! A function whose value is an array, and an intent that is left to be found out.
function cumulative(x, n) result(y)
  implicit none
  integer :: n
  real(8) :: x(n), y(n)
  integer :: i
  y(1) = x(1)
  do i = 2, n
    y(i) = y(i-1) * 0.5d0 + x(i)**3
  end do
end function
