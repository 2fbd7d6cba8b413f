! A class with an allocatable array of indices beside one of numbers, assigned whole from an optional argument.
module chain_module
  type :: chain
    integer :: count = 0
    integer, allocatable :: picked(:)
    double precision, allocatable :: values(:)
  contains
    procedure :: pick
    procedure :: squares
  end type
contains
  subroutine pick(me, n, wanted, ok)
    class(chain), intent(inout) :: me
    integer, intent(in) :: n
    integer, intent(in), optional :: wanted(:)
    logical, intent(out) :: ok
    ok = .true.
    if (allocated(me%picked)) deallocate(me%picked)
    if (.not. present(wanted)) return
    me%count = size(wanted)
    ok = all(wanted > 0 .and. wanted <= n)
    if (.not. ok) return
    allocate(me%picked(me%count)); me%picked = wanted
    allocate(me%values(2 * me%count)); me%values = 0d0
  end subroutine

  subroutine squares(me, x, y)
    class(chain), intent(inout) :: me
    double precision, intent(in) :: x(:)
    double precision, intent(out) :: y(:)
    integer :: i
    y = x * x(1)
    do i = 1, me%count
      me%values(i) = x(me%picked(i))
      y(i) = y(i) + me%values(i)**2
    end do
  end subroutine
end module

subroutine picked_squares(x, n, y)
  use chain_module
  integer :: n
  double precision :: x(n), y(n)
  type(chain) :: c
  logical :: ok
  call c%pick(n, wanted=[3, 1], ok=ok)
  call c%squares(x, y)
end subroutine
