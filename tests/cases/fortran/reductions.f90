! Reductions with masks and dimensions, count, minloc, merge, cshift, reshape.
subroutine statistics(x, s)
  implicit none
  real(8), intent(in) :: x(:, :)
  real(8), intent(out) :: s(4)
  real(8) :: column(size(x, 2)), flat(size(x))
  column = sum(x, dim=1)
  flat = reshape(x, [size(x)])
  s(1) = sum(x, mask = x > 0) + count(x > 0)
  s(2) = dot_product(column, cshift(column, 1))
  s(3) = maxval(column) * flat(minloc(flat, 1)) + product(1 + flat**2)
  s(4) = sum(merge(x, -2 * x, x > 0)**2)
end subroutine
