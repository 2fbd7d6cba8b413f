! Tables of factors that a procedure keeps for the next call, allocated with a status, as libraries of spherical harmonics do; an array of the module, too.
module saved_tables
  implicit none
  real(8), allocatable :: workspace(:)
contains
  subroutine scaled(p, x, n, status)
    integer, intent(in) :: n
    real(8), intent(out) :: p(n)
    real(8), intent(in) :: x(n)
    integer, intent(out), optional :: status
    real(8), allocatable, save :: roots(:), factors(:)
    integer, save :: known = 0
    integer :: i, state(2)
    if (present(status)) status = 0
    if (n > known) then
      if (allocated(roots)) deallocate(roots)
      if (allocated(factors)) deallocate(factors)
      allocate(roots(2 * n + 1), stat=state(1))
      allocate(factors((n + 1) * (n + 2) / 2), stat=state(2))
      if (state(1) /= 0 .or. state(2) /= 0) then
        print *, "no memory for the tables", state
        if (.not. present(status)) stop
        status = 3
        return
      end if
      do i = 1, 2 * n + 1
        roots(i) = sqrt(real(i, 8))
      end do
      do i = 1, n
        factors(i) = 2 * roots(i) + roots(2 * i)
      end do
      known = n
    end if
    do i = 1, n
      p(i) = x(i) * factors(i) + sin(x(i)) * roots(i)
    end do
  end subroutine

  subroutine saved_tables_energy(x, n, energy)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(8), intent(out) :: energy
    integer :: status
    allocate(workspace(n), stat=status)
    if (status /= 0) stop
    call scaled(workspace, x, n, status)
    energy = sum(workspace * workspace)
    call scaled(workspace, x / 2, n - 1)
    energy = energy + workspace(1)
    deallocate(workspace)
  end subroutine
end module
