! Internal procedures passed as arguments: one that reads variables of its host, one that changes them, and two at once.
subroutine area(a, b, lo, hi, s)
  implicit none
  real(8), intent(in) :: a, b, lo, hi
  real(8), intent(out) :: s
  real(8), external :: trapezoid
  real(8) :: visited
  visited = 0
  s = trapezoid(curve, lo, hi) - trapezoid(shifted, lo, hi) / 2 + visited * b
contains
  real(8) function curve(x)
    real(8) :: x
    curve = exp(-a * x) * cos(b * x)
  end function
  real(8) function shifted(x)
    real(8) :: x
    shifted = curve(x + a)
    visited = visited + x / 100
  end function
end subroutine
real(8) function trapezoid(f, lo, hi)
  implicit none
  real(8), external :: f
  real(8) :: lo, hi, h
  integer :: i
  h = (hi - lo) / 8
  trapezoid = (f(lo) + f(hi)) / 2
  do i = 1, 7
    trapezoid = trapezoid + f(lo + i * h)
  end do
  trapezoid = trapezoid * h
end function
