! Names and passing of C: value arguments, bind(C), c_bool.
subroutine decay(n, t, amplitude, rate, squared, y) bind(C, name="decay_c")
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int), value :: n
  real(c_double), intent(in) :: t(n)
  real(c_double), value :: amplitude, rate
  logical(c_bool), value :: squared
  real(c_double), intent(out) :: y(n)
  y = amplitude * exp(-rate * t)
  if (squared) y = y**2
end subroutine
