! Threads take every so manieth element, by their numbers.
subroutine by_hand(x, n, y)
  use omp_lib
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n)
  integer :: i
  !$omp parallel private(i)
  do i = omp_get_thread_num() + 1, n, omp_get_num_threads()
    y(i) = x(i) / (1 + x(i)**2)
  end do
  !$omp end parallel
end subroutine
