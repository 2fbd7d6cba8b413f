! A generic name resolved to module procedures, elemental functions on arrays.
module shapes
  implicit none
  interface measure
    module procedure measure_one, measure_all
  end interface
contains
  elemental real(8) function soft(z)
    real(8), intent(in) :: z
    soft = log(1 + exp(z))
  end function
  pure real(8) function measure_one(x)
    real(8), intent(in) :: x
    measure_one = x**2
  end function
  pure real(8) function measure_all(x)
    real(8), intent(in) :: x(:)
    measure_all = sum(soft(x)**3)
  end function
  real(8) function total(x)
    real(8), intent(in) :: x(:)
    total = measure(x) + measure(x(1))
  end function
end module
