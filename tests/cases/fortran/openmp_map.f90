! The plain `parallel do`: a loop of independent iterations with a private number.
subroutine wave(x, n, y)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n)
  real(8) :: phase
  integer :: i
  !$omp parallel do private(phase)
  do i = 1, n
    phase = 0.5d0 * i * x(i)
    y(i) = exp(-x(i)**2) * sin(phase)
  end do
end subroutine
