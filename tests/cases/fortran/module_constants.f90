! Module variables and named constants: constants of the derivative.
module physics
  implicit none
  integer, parameter :: wp = kind(1.0d0)
  real(wp), parameter :: pi = 3.14159265358979_wp
  real(wp) :: gravity = 9.81_wp
contains
  pure subroutine period(length, amplitude, n, t)
    integer, intent(in) :: n
    real(wp), intent(in) :: length(n), amplitude(n)
    real(wp), intent(out) :: t(n)
    integer :: i
    do i = 1, n
      t(i) = 2 * pi * sqrt(length(i) / gravity) * (1 + amplitude(i)**2 / 16 + 11 * amplitude(i)**4 / 3072)
    end do
  end subroutine
end module
