! An internal procedure that changes variables of its host.
subroutine march(x, y)
  implicit none
  real(8), intent(in) :: x(:)
  real(8), intent(out) :: y(size(x))
  real(8) :: state
  integer :: i
  state = x(1)
  do i = 1, size(x)
    call step(i)
  end do
contains
  subroutine step(k)
    integer, intent(in) :: k
    y(k) = state * x(k)
    state = state + x(k)**2
  end subroutine
end subroutine
