! real(4), with a table in a module and an integer array.
module tables
  implicit none
  real(4), parameter :: weight(4) = [0.5, 0.25, 0.125, 0.0625]
contains
  subroutine blend(x, k, y)
    real(4), intent(in) :: x(:)
    integer(8), intent(in) :: k(:)
    real(4), intent(out) :: y(size(x))
    integer :: i
    do i = 1, size(x)
      y(i) = weight(int(k(i)) + 1) * x(i)**2
    end do
  end subroutine
end module
