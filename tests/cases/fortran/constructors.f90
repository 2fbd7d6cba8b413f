! Array constructors: of fixed length, with arrays in them, with implied loops, and ones that grow.
subroutine constructors(a, b, x, y)
  implicit none
  real(8), intent(in) :: a, b, x(3)
  real(8), intent(out) :: y(6)
  real(8) :: z(2), w(4)
  real(8), allocatable :: squares(:), grown(:)
  integer :: i
  z = [2 * a + b, a * b]
  w = [a, x]
  squares = [(x(i)**2, i = 1, 3)]
  allocate(grown(0))
  do i = 1, 3
    grown = [grown, squares(i) * a]
  end do
  y(1:2) = z * [sin(a), cos(b)]
  y(3:6) = w + [b, grown]
end subroutine
