! The first of two files: the module that the other uses.
module grid_module
  implicit none
  integer, parameter :: dp = kind(1d0)
  type :: grid
    real(dp) :: h = 0.1_dp
    integer :: n = 0
  end type
contains
  pure function laplacian(g, u, i) result(v)
    type(grid), intent(in) :: g
    real(dp), intent(in) :: u(g%n)
    integer, intent(in) :: i
    real(dp) :: v
    v = (u(i-1) - 2 * u(i) + u(i+1)) / g%h**2
  end function
end module
