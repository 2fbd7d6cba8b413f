! An output that is the procedure's own variable: set, read and replaced until a root is found (`y + sin(y) = x`, the sine as a series).
subroutine settle(x, y)
  implicit none
  real(8), intent(in) :: x(:)
  real(8), intent(out) :: y(size(x))
  integer :: status, i
  do i = 1, size(x)
    call solve(x(i), y(i), status)
  end do
contains
  subroutine solve(a, r, status)
    real(8), intent(in) :: a
    real(8), intent(out) :: r
    integer, intent(out), optional :: status
    real(8) :: term, total, before, error
    integer :: steps, sign, odd
    if (present(status)) status = 0
    r = 1
    error = 1
    steps = 0
    do while (abs(error) > 1d-13)
      steps = steps + 1
      sign = -1
      odd = 1
      term = r
      total = r
      before = huge(1d0)
      do while (abs(total - before) > 1d-15)
        odd = odd + 2
        term = term * r**2 / (odd * (odd - 1))
        before = total
        total = total + sign * term
        sign = -sign
      end do
      error = (total + r - a) / (1 + cos(r))
      r = r - error
      if (steps == 90) then
        if (abs(error) > 1d-10) then
          if (present(status)) status = status - 10
          exit
        end if
      end if
    end do
  end subroutine
end subroutine
