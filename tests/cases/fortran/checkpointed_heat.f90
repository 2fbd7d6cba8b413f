! A time loop over an automatic and an allocatable array whose gradient keeps three states.
subroutine heat(start, k, n, steps, finish, total)
  implicit none
  integer, intent(in) :: n, steps
  real(8), intent(in) :: start(n), k(n)
  real(8), intent(out) :: finish(n), total
  real(8), allocatable :: next(:)
  real(8) :: now(n)
  integer :: s, i
  allocate (next(n))
  now = start
  next(:) = start
  total = 0
  !$ffgrad checkpoint(3)
  do s = 1, steps
    do i = 2, n - 1
      next(i) = now(i) + 0.1d0 * k(i) * (now(i - 1) - 2 * now(i) + now(i + 1)) + 0.05d0 * sin(now(i))
    end do
    now = next
    total = total + now(2)**2
  end do
  finish = now
end subroutine
