! Methods for a scalar equation, each an extension of one type, chosen by name.
module solvers
  implicit none
  type, abstract :: solver
    procedure(equation), pointer, nopass :: f => null()
    real(8) :: tolerance = 1d-12
    integer :: steps = 0
  contains
    procedure :: begin
    procedure(search), deferred :: root
  end type
  type, extends(solver) :: secant
    real(8) :: damping = 1d0
  contains
    procedure :: root => secant_root
  end type
  type, extends(solver) :: newton
    real(8), allocatable :: slopes(:)
  contains
    procedure :: root => newton_root
  end type
  abstract interface
    real(8) function equation(x)
      real(8), intent(in) :: x
    end function
    subroutine search(me, a, x)
      import
      class(solver), intent(inout) :: me
      real(8), intent(in) :: a
      real(8), intent(out) :: x
    end subroutine
  end interface
contains
  subroutine begin(me, f, tolerance)
    class(solver), intent(out) :: me
    procedure(equation) :: f
    real(8), intent(in), optional :: tolerance
    me%f => f
    if (present(tolerance)) me%tolerance = tolerance
  end subroutine
  subroutine secant_root(me, a, x)
    class(secant), intent(inout) :: me
    real(8), intent(in) :: a
    real(8), intent(out) :: x
    real(8) :: before, fb, fx, next
    before = a
    x = a + 0.1d0
    fb = me%f(before)
    do while (me%steps < 40)
      fx = me%f(x)
      if (abs(fx - fb) < 1d-13) exit
      next = x - me%damping*fx*(x - before)/(fx - fb)
      before = x
      fb = fx
      x = next
      me%steps = me%steps + 1
      if (abs(x - before) < me%tolerance) exit
    end do
  end subroutine
  subroutine newton_root(me, a, x)
    class(newton), intent(inout) :: me
    real(8), intent(in) :: a
    real(8), intent(out) :: x
    integer :: k
    allocate(me%slopes(8))
    x = a
    do k = 1, 8
      me%slopes(k) = (me%f(x + 1d-4) - me%f(x - 1d-4))/2d-4
      x = x - me%f(x)/me%slopes(k)
    end do
  end subroutine
  subroutine solve(name, f, a, x)
    character(len=*), intent(in) :: name
    procedure(equation) :: f
    real(8), intent(in) :: a
    real(8), intent(out) :: x
    class(solver), allocatable :: s
    select case (name)
    case ('secant')
      allocate(secant :: s)
    case ('newton')
      allocate(newton :: s)
    case default
      error stop 'no such method'
    end select
    call s%begin(f, 1d-13)
    call s%root(a, x)
  end subroutine
end module

subroutine chosen_solver(p, n, y)
  use solvers
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: p(n)
  real(8), intent(out) :: y(n)
  real(8) :: own
  integer :: i
  do i = 1, n
    own = p(i)
    if (mod(i, 2) == 0) then
      call solve('newton', kepler, 1d0, y(i))
    else
      call solve('secant', kepler, 1d0, y(i))
    end if
  end do
contains
  real(8) function kepler(x)
    real(8), intent(in) :: x
    kepler = x - 0.4d0*sin(x) - own
  end function
end subroutine
