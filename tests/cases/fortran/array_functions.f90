! Whole-array expressions and the transformational functions.
function energy(a, x, b) result(e)
  implicit none
  real(8), intent(in) :: a(:, :), x(:), b(:)
  real(8) :: e
  real(8) :: r(size(b)), g(size(x))
  r = matmul(a, x) - b
  g = matmul(transpose(a), r)
  e = 0.5d0 * dot_product(r, r) + sum(g * x) / size(x) + sum(a**2) + product(1 + 0.1d0 * x) + maxval(b) - minval(x)
end function
