! Optional dummies: absent where the signature does not name them.
subroutine affine(x, y, factor, offset)
  implicit none
  real(8), intent(in) :: x(:)
  real(8), intent(out) :: y(size(x))
  real(8), intent(in), optional :: factor, offset(:)
  y = x**2
  if (present(factor)) y = y * factor
  if (present(offset)) y = y + offset
end subroutine
