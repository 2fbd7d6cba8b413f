! Shapes as declared: a(3,n) takes a tensor of shape (3, n).
subroutine rotate(n, a, angle, b)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: a(3, n), angle
  real(8), intent(out) :: b(3, n)
  integer :: i
  do i = 1, n
    b(1, i) = cos(angle) * a(1, i) - sin(angle) * a(2, i)
    b(2, i) = sin(angle) * a(1, i) + cos(angle) * a(2, i)
    b(3, i) = a(3, i)**2 * i
  end do
end subroutine
