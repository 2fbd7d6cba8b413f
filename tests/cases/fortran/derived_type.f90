! Derived types inside: nested, with arrays, passed to a function of their module.
module bodies
  implicit none
  type :: body
    real(8) :: mass
    real(8) :: position(3)
  end type
  type :: pair_of_bodies
    type(body) :: first, second
  end type
contains
  function attraction(p) result(e)
    type(pair_of_bodies), intent(in) :: p
    real(8) :: e
    real(8) :: d(3)
    d = p%first%position - p%second%position
    e = p%first%mass * p%second%mass / sqrt(dot_product(d, d) + 0.01d0)
  end function
  real(8) function potential(m, q)
    real(8), intent(in) :: m(2), q(3, 2)
    type(pair_of_bodies) :: p
    p%first%mass = m(1)
    p%first%position = q(:, 1)
    p%second%mass = m(2)
    p%second%position = q(:, 2)
    potential = attraction(p)
  end function
end module
