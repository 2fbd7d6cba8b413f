! A time loop inside of a parallel region: its threads meet at the end of each loop.
subroutine march(u, n, steps, dt)
  implicit none
  integer, intent(in) :: n, steps
  real(8), intent(inout) :: u(n)
  real(8), intent(in) :: dt
  real(8) :: v(n)
  integer :: i, step
  !$omp parallel private(step)
  do step = 1, steps
    !$omp do
    do i = 2, n - 1
      v(i) = u(i) + dt * (u(i - 1) - 2 * u(i) + u(i + 1)) * (1 + u(i)**2)
    end do
    !$omp do
    do i = 2, n - 1
      u(i) = v(i)
    end do
    !$omp single
    u(1) = u(2)
    u(n) = 0.9d0 * u(n - 1)
    !$omp end single
  end do
  !$omp end parallel
end subroutine
