! Allocatable locals: automatic (re)allocation on assignment, in a loop too, and deallocation.
subroutine growth(x, y)
  implicit none
  real(8), intent(in) :: x(:)
  real(8), intent(out) :: y(size(x))
  real(8), allocatable :: a(:), b(:), c(:, :)
  integer :: i
  a = x * 2
  b = a
  b = a(1:2)
  allocate(c(size(x), 2))
  c(:, 1) = a
  c(:, 2) = 2 * a
  c = 2 * c
  do i = 1, 3
    a = a + c(:, 2) * sum(b)
  end do
  if (allocated(b)) deallocate(b)
  y = a * c(:, 1)
end subroutine
