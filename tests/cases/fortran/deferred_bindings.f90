! Type-bound procedures, deferred ones, and a class dummy.
module curves
  implicit none
  type, abstract :: base
    real(8) :: factor = 2
  contains
    procedure(f), deferred :: value
    procedure :: twice
  end type
  abstract interface
    real(8) function f(self, x)
      import :: base
      class(base), intent(in) :: self
      real(8), intent(in) :: x
    end function
  end interface
  type, extends(base) :: quad
    real(8) :: a, b
  contains
    procedure :: value => quad_value
    procedure :: init => quad_init
  end type
  type, extends(base) :: expo
    real(8) :: r
  contains
    procedure :: value => expo_value
  end type
contains
  real(8) function twice(self, x)
    class(base), intent(in) :: self
    real(8), intent(in) :: x
    twice = self%factor * self%value(x)
  end function
  subroutine quad_init(self, a, b)
    class(quad), intent(inout) :: self
    real(8), intent(in) :: a, b
    self%a = a; self%b = b
  end subroutine
  real(8) function quad_value(self, x)
    class(quad), intent(in) :: self
    real(8), intent(in) :: x
    quad_value = self%a * x**2 + self%b
  end function
  real(8) function expo_value(self, x)
    class(expo), intent(in) :: self
    real(8), intent(in) :: x
    expo_value = exp(self%r * x)
  end function
  subroutine evaluate(a, b, x, y)
    real(8), intent(in) :: a, b, x
    real(8), intent(out) :: y
    type(quad) :: q
    call q%init(a, b)
    q%factor = a
    y = q%value(x) + q%twice(x)
  end subroutine
end module
