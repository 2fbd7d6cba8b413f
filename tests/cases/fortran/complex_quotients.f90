! Quotients of complex numbers: the power that a ladder of resistors and coils takes, and a continued fraction, in both branches of Smith's algorithm.
subroutine ladder_power(resistance, reactance, n, power)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: resistance(n), reactance(n)
  real(8), intent(out) :: power(2)
  complex(8) :: admittance, fraction
  integer :: i
  admittance = (0d0, 0d0)
  fraction = (1d0, 0.5d0)
  do i = 1, n
    admittance = admittance + 1d0 / cmplx(resistance(i), reactance(i), 8)
    fraction = cmplx(resistance(i), -2d0 * reactance(i), 8) / (fraction + cmplx(0d0, resistance(i), 8))
  end do
  power(1) = real(conjg(1d0 / admittance)) / abs(admittance)
  power(2) = abs(fraction)**2
end subroutine

! The same in single precision: what an amplifier with feedback gives.
subroutine gain(resistance, reactance, ratio)
  implicit none
  real(4), intent(in) :: resistance, reactance
  real(4), intent(out) :: ratio(2)
  complex(4) :: feedback, output
  feedback = cmplx(resistance, -reactance)
  output = (2.0, 0.5) / (feedback + (1.0, 0.25) / feedback)
  ratio = [real(output), aimag(output)]
end subroutine
