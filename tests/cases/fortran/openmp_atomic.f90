! Bonds pull on the two bodies at their ends: sums that several threads add to.
subroutine forces(q, from, to, stiffness, n, m, f)
  implicit none
  integer, intent(in) :: n, m
  integer, intent(in) :: from(m), to(m)
  real(8), intent(in) :: q(n), stiffness(m)
  real(8), intent(out) :: f(n)
  real(8) :: pull
  integer :: b
  f = 0
  !$omp parallel do private(pull)
  do b = 1, m
    pull = stiffness(b) * (q(to(b)) - q(from(b)))**3
    !$omp atomic
    f(from(b)) = f(from(b)) + pull
    !$omp atomic update
    f(to(b)) = f(to(b)) - pull
  end do
end subroutine
