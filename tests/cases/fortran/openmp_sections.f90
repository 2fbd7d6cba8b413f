! Different work for different threads; array assignments shared out.
subroutine halves(x, n, y)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n)
  real(8) :: a, b
  !$omp parallel sections
  !$omp section
  a = sum(x**2)
  !$omp section
  b = x(1) * x(n)
  !$omp end parallel sections
  !$omp parallel workshare
  y = a * x + b
  !$omp end parallel workshare
end subroutine
