! Objects are allocated by one of several types, with default values, components of their own, and procedures that belong to the type.
module springs
  implicit none
  type, abstract :: spring
    real(8) :: stiffness = 2d0
  contains
    procedure(force_of), deferred :: force
  end type
  type, extends(spring) :: linear
    real(8) :: offset = 0.25d0
    integer :: calls = 0
  contains
    procedure :: force => linear_force
  end type
  type, extends(spring) :: table
    real(8) :: scale(2) = [1d0, 3d0]
    real(8), allocatable :: weights(:)
    complex(8) :: phase = (0.5d0, 1.5d0)
  contains
    procedure :: force => table_force
  end type
  type :: node
    real(8) :: value = 1d0
    type(node), pointer :: next => null()
  end type
  abstract interface
    function force_of(self, x) result(f)
      import :: spring
      class(spring), intent(inout) :: self
      real(8), intent(in) :: x
      real(8) :: f
    end function
  end interface
contains
  function linear_force(self, x) result(f)
    class(linear), intent(inout) :: self
    real(8), intent(in) :: x
    real(8) :: f
    self%calls = self%calls + 1
    f = self%stiffness * (x - self%offset) * self%calls
  end function
  function table_force(self, x) result(f)
    class(table), intent(inout) :: self
    real(8), intent(in) :: x
    real(8) :: f
    f = self%stiffness * sum(self%weights) * self%scale(2) * x + aimag(self%phase)
  end function
end module

subroutine forces(n, x, y)
  use springs
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n)
  class(spring), allocatable :: s
  type(node), pointer :: first
  integer :: i
  do i = 1, n
    if (mod(i, 2) == 1) then
      allocate (linear :: s)
    else
      allocate (table :: s)
      select type (s)
      type is (table)
        allocate (s%weights(2))
        s%weights = x(i)
      end select
    end if
    s%stiffness = s%stiffness + x(1)
    y(i) = s%force(x(i))
    deallocate (s)
    allocate (first)
    if (.not. associated(first%next)) first%value = first%value * x(i)**2
    y(i) = y(i) + first%value
    deallocate (first)
  end do
end subroutine
