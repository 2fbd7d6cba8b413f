! Descriptors: rank 2 and rank 1 assumed-shape dummies, array sections, intrinsics on them.
module linear
  implicit none
contains
  subroutine smooth(u, w, v)
    real(8), intent(in) :: u(:, :), w(:)
    real(8), intent(out) :: v(size(u, 1), size(u, 2))
    integer :: nx, ny, j
    nx = size(u, 1)
    ny = size(u, 2)
    v = u
    do j = 2, ny - 1
      v(2:nx-1, j) = w(1) * u(2:nx-1, j) + w(2) * (u(1:nx-2, j) + u(3:nx, j)) &
                   + w(3) * (u(2:nx-1, j-1) * u(2:nx-1, j+1))
    end do
  end subroutine
end module
