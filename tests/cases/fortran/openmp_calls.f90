! A parallel loop that calls procedures with arrays of their own.
module cells
  implicit none
contains
  pure subroutine relax(state, source)
    real(8), intent(inout) :: state(3)
    real(8), intent(in) :: source
    real(8) :: rate(3)
    integer :: k
    do k = 1, 4
      rate(1) = source - state(1)
      rate(2) = state(1) - state(2) * state(3)
      rate(3) = 0.5d0 * state(2) - state(3)
      state = state + 0.1d0 * rate
    end do
  end subroutine
  subroutine react(c, source, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: c(3, n)
    real(8), intent(in) :: source(n)
    integer :: i
    !$omp parallel do schedule(static) num_threads(2)
    do i = 1, n
      call relax(c(:, i), source(i))
    end do
  end subroutine
end module
