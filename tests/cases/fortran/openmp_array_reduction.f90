! Each thread fills a histogram of its own; the histograms are added up.
subroutine deposit(x, w, n, m, density)
  implicit none
  integer, intent(in) :: n, m
  real(8), intent(in) :: x(n), w(n)
  real(8), intent(out) :: density(m)
  real(8) :: place, part
  integer :: i, cell
  density = 0
  !$omp parallel do private(place, part, cell) reduction(+:density)
  do i = 1, n
    place = x(i) * (m - 1)
    cell = int(place)
    part = place - cell
    density(cell + 1) = density(cell + 1) + (1 - part) * w(i)
    density(cell + 2) = density(cell + 2) + part * w(i)
  end do
end subroutine
