! A time loop over complex numbers, with their absolute value, exponential and quotient, whose gradient keeps three states.
subroutine orbits(place, n, steps, distance)
  implicit none
  integer, intent(in) :: n, steps
  real(8), intent(in) :: place(2, n)
  real(8), intent(out) :: distance(n)
  complex(8) :: z(n)
  integer :: i, s
  do i = 1, n
    z(i) = cmplx(place(1, i), place(2, i), 8)
  end do
  !$ffgrad checkpoint(3)
  do s = 1, steps
    do i = 1, n
      z(i) = z(i) / (1d0 + 0.1d0 * abs(z(i))) + 0.05d0 * exp(-z(i))
    end do
  end do
  do i = 1, n
    distance(i) = abs(z(i))
  end do
end subroutine
