! Two loops as one, over assumed-shape arrays, in a module.
module blocks
  implicit none
contains
  subroutine multiply(a, b, c)
    real(8), intent(in) :: a(:, :), b(:, :)
    real(8), intent(out) :: c(size(a, 1), size(b, 2))
    integer :: i, j, k
    real(8) :: s
    !$omp parallel do collapse(2) private(s, k) default(shared)
    do j = 1, size(b, 2)
      do i = 1, size(a, 1)
        s = 0
        do k = 1, size(a, 2)
          s = s + a(i, k) * b(k, j)
        end do
        c(i, j) = tanh(s)
      end do
    end do
  end subroutine
end module
