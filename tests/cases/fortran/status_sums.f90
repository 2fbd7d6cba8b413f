! An optional status that is set to constants and added to, beside numbers.
subroutine settle(x, y)
  implicit none
  real(8), intent(in) :: x(:)
  real(8), intent(out) :: y(size(x))
  integer :: status, i
  do i = 1, size(x)
    call solve(x(i), y(i), status)
    if (status < -50) y(i) = y(i) + x(i)
  end do
contains
  subroutine solve(a, r, status)
    real(8), intent(in) :: a
    real(8), intent(out) :: r
    integer, intent(out), optional :: status
    integer :: k
    if (present(status)) status = 0
    r = 1
    do k = 1, 9
      r = r - (r**3 - 2 - a) / (3 * r**2)
    end do
    if (a > 0.5d0) then
      if (present(status)) status = status - 10
    end if
    if (abs(r**3 - 2 - a) > 1d-3) then
      if (present(status)) status = status - 100
    end if
  end subroutine
end subroutine
