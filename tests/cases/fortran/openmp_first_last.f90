! `firstprivate` brings a number and an array in, `lastprivate` takes the last iteration's number out.
subroutine carried(x, n, y, last)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n), last
  real(8) :: scale, table(3), t
  integer :: i
  scale = x(1) * x(2)
  table = [1d0, x(n), 3d0]
  !$omp parallel do firstprivate(scale, table) lastprivate(t)
  do i = 1, n
    t = scale * x(i)**2 + table(mod(i, 3) + 1)
    y(i) = t * x(i)
  end do
  last = t
end subroutine
