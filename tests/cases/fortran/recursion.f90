! A recursive function.
recursive function tree(x, n) result(s)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8) :: s
  if (n == 1) then
    s = sin(x(1))
  else
    s = tree(x(1:n/2), n/2) * tree(x(n/2+1:n), n - n/2) + x(1)
  end if
end function
