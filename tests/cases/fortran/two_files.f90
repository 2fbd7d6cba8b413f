! Uses the module of another file, in place, with a constant kept in an include file.
subroutine diffuse(u, n, rate)
  use grid_module, only: dp, grid, laplacian
  implicit none
  integer, intent(in) :: n
  real(dp), intent(inout) :: u(n)
  real(dp), intent(in) :: rate
  type(grid) :: g
  real(dp) :: next(n)
  integer :: step, i
  include 'steps.inc'
  g%n = n
  do step = 1, steps
    next = u
    do i = 2, n - 1
      next(i) = u(i) + rate * 1d-3 * laplacian(g, u, i) * u(i)
    end do
    u = next
  end do
end subroutine
