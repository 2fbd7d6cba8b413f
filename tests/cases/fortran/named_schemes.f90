! Mixing coefficients of a scheme that is chosen by its name. One module variable holds the name and the numbers; trim gets the variable's address in a
! descriptor that is stored whole.
module mixing
  implicit none
  type :: parameters
    character(len=16) :: scheme = ''
    real(8) :: strength = 0, limit = 0
  end type
  type(parameters), target :: saved
contains
  subroutine put(name, value)
    character(len=*), intent(in) :: name
    real(8), intent(in) :: value
    select case (trim(name))
    case ('strength')
      saved%strength = value
    case ('limit')
      saved%limit = value
    end select
  end subroutine

  subroutine evaluate(richardson, coefficient, user)
    real(8), intent(in) :: richardson(:)
    real(8), intent(out) :: coefficient(:)
    type(parameters), optional, target, intent(in) :: user
    type(parameters), pointer :: own
    own => saved
    if (present(user)) own => user
    select case (trim(own%scheme))
    case ('quotient')
      coefficient = own%strength/(1 + richardson)
    case ('power')
      coefficient = own%strength*(1 - (richardson/own%limit)**2)**3
    case default
      error stop 'no such scheme'
    end select
  end subroutine
end module

subroutine named_schemes(x, n, y)
  use mixing
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n)
  real(8) :: second(n)
  call put('strength', x(1))
  call put('limit', 2 + x(2))
  saved%scheme = 'power'
  call evaluate(x, y)
  saved%scheme = 'quotient'
  call evaluate(x, second)
  y = y + second
end subroutine
