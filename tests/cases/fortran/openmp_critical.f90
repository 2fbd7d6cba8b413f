! Partial sums of each thread, put together in a critical section.
subroutine moments(x, n, mean, spread)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: mean, spread
  real(8) :: s, q, mine, square
  integer :: i
  s = 0
  q = 0
  !$omp parallel private(mine, square)
  mine = 0
  square = 0
  !$omp do
  do i = 1, n
    mine = mine + x(i)
    square = square + x(i)**2
  end do
  !$omp end do nowait
  !$omp critical (putting_together)
  s = s + mine
  q = q + square
  !$omp end critical (putting_together)
  !$omp end parallel
  mean = s / n
  spread = sqrt(q / n - mean**2)
end subroutine
