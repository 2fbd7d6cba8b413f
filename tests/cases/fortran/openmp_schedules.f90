! Iterations of uneven cost, dealt out dynamically, guided, and in chunks.
real(8) function uneven(x, n) result(total)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8) :: v
  integer :: i, k
  total = 0
  !$omp parallel do schedule(dynamic, 2) private(v, k) reduction(+:total)
  do i = 1, n
    v = x(i)
    do k = 1, i
      v = v + 0.1d0 * sin(v)
    end do
    total = total + v
  end do
  !$omp parallel do schedule(guided) reduction(+:total)
  do i = 1, n
    total = total + x(i)**3
  end do
  !$omp parallel do schedule(static, 1) reduction(+:total)
  do i = n, 1, -2
    total = total - 0.5d0 * x(i)**2
  end do
end function
