! Pointers to targets, allocation with a status.
subroutine targets(x, y)
  implicit none
  real(8), intent(in), target :: x(:)
  real(8), intent(out) :: y
  real(8), pointer :: p(:), q(:)
  real(8), allocatable, target :: t(:)
  integer :: status
  allocate(t(size(x)), stat=status)
  if (status /= 0) return
  t = x**2
  p => t(1:2)
  q => x
  p = p * 3
  y = sum(t * q) + sum(p)
  deallocate(t, stat=status)
end subroutine
