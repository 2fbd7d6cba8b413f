! The interval of a number among knots, where a search begins at the last one found: loops that have nothing to differentiate, one
! of which is left from a loop in it.
module knots_module
contains
  subroutine find_interval(t, n, x, last, found, flag)
    integer, intent(in) :: n
    double precision, intent(in) :: t(:), x
    integer, intent(inout) :: last
    integer, intent(out) :: found, flag
    integer :: low, high, middle, step
    high = last + 1
    if (high >= n) then
      if (x >= t(n)) then
        flag = 1
        found = n
        return
      end if
      last = n - 1
      high = n
    end if
    if (x < t(high)) then
      if (x >= t(last)) then
        flag = 0
        found = last
        return
      end if
      step = 1
      do
        high = last
        last = high - step
        if (last <= 1) exit
        if (x >= t(last)) exit
        step = step * 2
      end do
      last = max(last, 1)
    else
      step = 1
      do
        last = high
        high = last + step
        if (high >= n) exit
        if (x < t(high)) exit
        step = step * 2
      end do
      high = min(high, n)
    end if
    low = last
    do
      middle = (low + high) / 2
      if (middle == low) then
        found = low
        last = low
        flag = 0
        return
      end if
      if (x < t(middle)) then
        high = middle
      else
        low = middle
      end if
    end do
  end subroutine

  subroutine line(t, v, x, last, y)
    double precision, intent(in) :: t(:), v(:), x
    integer, intent(inout) :: last
    double precision, intent(out) :: y
    integer :: k, flag
    double precision :: s
    call find_interval(t, size(t), x, last, k, flag)
    s = (x - t(k)) / (t(k + 1) - t(k))
    y = v(k) * (1 - s) + v(k + 1) * s * s
  end subroutine
end module

! The knots are sums of steps.
subroutine interpolate(d, v, n, x, m, y)
  use knots_module
  integer :: n, m, i, last
  double precision :: d(n), v(n), x(m), y(m), t(n)
  t(1) = 0
  do i = 2, n
    t(i) = t(i - 1) + d(i)
  end do
  last = 1
  do i = 1, m
    call line(t, v, x(i), last, y(i))
  end do
end subroutine
