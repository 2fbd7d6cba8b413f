! Allocatables of a module and of a derived type, assigned as a whole and used by another procedure.
module store
  implicit none
  real(8), allocatable :: table(:), grid(:, :)
  type :: spline
    real(8), allocatable :: c(:)
    real(8) :: scale = 1
  end type
contains
  subroutine set_up(x, s)
    real(8), intent(in) :: x(:)
    type(spline), intent(inout) :: s
    table = x
    table = table * 2 + 1
    if (allocated(grid)) deallocate(grid)
    allocate(grid(size(x), 2))
    grid(:, 1) = table
    grid(:, 2) = x**2
    s%c = x * table
    s%c = s%c + 1
    s%scale = x(1)
  end subroutine
  subroutine stored(x, y)
    real(8), intent(in) :: x(:)
    real(8), intent(out) :: y
    type(spline) :: s
    call set_up(x, s)
    y = sum(table * grid(:, 2)) + sum(grid) + s%scale * sum(s%c)
  end subroutine
end module
