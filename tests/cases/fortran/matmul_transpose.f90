! matmul into allocatables, which take its shape; transpose of an array into itself.
subroutine products(a, b, c)
  implicit none
  real(8), intent(in) :: a(:, :), b(:, :)
  real(8), intent(out) :: c(size(a, 1), size(b, 2))
  real(8), allocatable :: t(:, :)
  t = matmul(a, b)
  c = t * sum(t)
  t = transpose(t)
  c = c + transpose(t)
end subroutine
