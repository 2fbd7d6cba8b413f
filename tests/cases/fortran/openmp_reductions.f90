! Reductions of three kinds in one loop.
subroutine summary(x, n, total, product, largest)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: total, product, largest
  real(8) :: s, p, m
  integer :: i
  s = 0
  p = 1
  m = -huge(m)
  !$omp parallel do reduction(+:s) reduction(*:p) reduction(max:m)
  do i = 1, n
    s = s + x(i)**2
    p = p * (1 + 0.1d0 * x(i))
    m = max(m, x(i) * cos(x(i)))
  end do
  !$omp end parallel do
  total = s
  product = p
  largest = m
end subroutine
