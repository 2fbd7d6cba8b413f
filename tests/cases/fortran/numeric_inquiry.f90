! What a number is made of: its fraction is the number times a power of two, its exponent and spacing are constants.
subroutine inquire_numbers(x, n, y)
  integer :: n, i
  double precision :: x(n), y(n)
  do i = 1, n
    y(i) = fraction(x(i)) * exponent(x(i)) + set_exponent(x(i), 3) + scale(x(i), -1)
    y(i) = y(i) + erfc_scaled(x(i)) + erfc_scaled(30 * x(i))
    if (abs(x(i) - x(1)) > spacing(x(i))) y(i) = y(i) + rrspacing(x(i)) * 2d0**(-50) * x(1)
  end do
end subroutine
