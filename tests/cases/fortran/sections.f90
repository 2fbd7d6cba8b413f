! Array sections passed on: strided to an assumed-shape dummy, packed for an explicit-shape one.
subroutine rows(x, y)
  implicit none
  real(8), intent(in) :: x(:, :)
  real(8), intent(out) :: y(size(x, 1))
  interface
    subroutine scaled(v, w)
      real(8), intent(in) :: v(:)
      real(8), intent(out) :: w(:)
    end subroutine
    subroutine energy_of(v, n, w)
      integer, intent(in) :: n
      real(8), intent(in) :: v(n)
      real(8), intent(inout) :: w
    end subroutine
  end interface
  call scaled(x(:, 2), y)
  call energy_of(x(2, :), size(x, 2), y(1))
end subroutine
subroutine scaled(v, w)
  implicit none
  real(8), intent(in) :: v(:)
  real(8), intent(out) :: w(:)
  w = v * v(1)
end subroutine
subroutine energy_of(v, n, w)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: v(n)
  real(8), intent(inout) :: w
  w = w + sum(v**2)
end subroutine
