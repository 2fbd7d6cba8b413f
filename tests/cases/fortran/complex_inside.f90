! Complex arithmetic inside: division, powers, absolute values.
subroutine impedance(r, l, omega, n, z)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: r, l, omega(n)
  real(8), intent(out) :: z(n)
  complex(8) :: total(n), branch
  integer :: i
  do i = 1, n
    branch = cmplx(r, omega(i) * l, 8)
    total(i) = 1 / (1 / branch + cmplx(0.1d0, omega(i), 8)) + conjg(branch)**2
  end do
  z = real(total)**2 + aimag(total)**2
end subroutine
