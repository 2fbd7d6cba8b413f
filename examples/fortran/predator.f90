! A predator-prey model with a limit to growth, integrated by Runge and Kutta: the kind of code that is calibrated.
module ecology
  implicit none
  integer, parameter :: dp = kind(1.0d0)
contains
  ! Populations at the times t, from those at the first of them.
  !   rates: growth and capacity of the prey, predation, gain and loss of the predators
  subroutine simulate(nt, t, start, rates, populations)
    integer, intent(in) :: nt
    real(dp), intent(in) :: t(nt), start(2), rates(5)
    real(dp), intent(out) :: populations(2, nt)
    integer, parameter :: substeps = 10
    real(dp) :: state(2), h
    integer :: i, k
    state = start
    populations(:, 1) = state
    do i = 2, nt
      h = (t(i) - t(i-1)) / substeps
      do k = 1, substeps
        state = advanced(state, rates, h)
      end do
      populations(:, i) = state
    end do
  end subroutine

  pure function advanced(y, rates, h) result(next)
    real(dp), intent(in) :: y(2), rates(5), h
    real(dp) :: next(2), k1(2), k2(2), k3(2), k4(2)
    k1 = slope(y, rates)
    k2 = slope(y + h / 2 * k1, rates)
    k3 = slope(y + h / 2 * k2, rates)
    k4 = slope(y + h * k3, rates)
    next = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
  end function

  pure function slope(y, rates) result(dy)
    real(dp), intent(in) :: y(2), rates(5)
    real(dp) :: dy(2)
    dy(1) = rates(1) * y(1) * (1 - y(1) / rates(2)) - rates(3) * y(1) * y(2)
    dy(2) = rates(4) * y(1) * y(2) - rates(5) * y(2)
  end function
end module
