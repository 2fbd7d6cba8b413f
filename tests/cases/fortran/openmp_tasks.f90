! Two tasks, one for each half.
recursive subroutine tasks(x, n, s)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: s
  real(8) :: a, b
  !$omp parallel
  !$omp single
  !$omp task shared(a)
  a = sum(sin(x(:n/2)))
  !$omp end task
  !$omp task shared(b)
  b = sum(x(n/2+1:)**2)
  !$omp end task
  !$omp taskwait
  s = a * b
  !$omp end single
  !$omp end parallel
end subroutine
