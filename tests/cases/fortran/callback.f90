! An external function passed as an argument: Simpson's rule between the given bounds.
subroutine simpson(a, b, p, s)
  implicit none
  real(8), intent(in) :: a, b, p
  real(8), intent(out) :: s
  real(8), external :: integrand, rule
  s = rule(integrand, a, b, p, 20)
end subroutine
real(8) function integrand(x, p)
  implicit none
  real(8) x, p
  integrand = exp(-p * x) * cos(x)
end function
real(8) function rule(f, a, b, p, n)
  implicit none
  real(8) f, a, b, p, h
  external f
  integer n, i
  h = (b - a) / n
  rule = f(a, p) + f(b, p)
  do i = 1, n - 1
    rule = rule + (2 + 2 * mod(i, 2)) * f(a + i * h, p)
  end do
  rule = rule * h / 3
end function
