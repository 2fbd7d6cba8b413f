! do concurrent with a local variable, and where with masks.
subroutine limited(x, n, y)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n)
  real(8) :: work(0:n+1), t, z(n)
  integer :: i
  work = 0
  work(1:n) = x
  do concurrent (i = 1:n) local(t)
    t = work(i-1) + work(i+1)
    z(i) = t * work(i)
  end do
  where (z > 0)
    y = z**2
  elsewhere
    y = -z
  end where
end subroutine
