! Roots of cubics by Newton's method with restarts: blocks that are left on several paths, which note and restore the stack.
module steps
contains
  subroutine refine(c, x, done)
    real(8), intent(in) :: c(4)
    real(8), intent(inout) :: x
    logical, intent(out) :: done
    integer :: i
    real(8) :: last
    last = 1d300
    done = .false.
    iterate: do i = 1, 30
      attempt: block
        real(8) :: f, d
        f = c(1) + x * (c(2) + x * (c(3) + x * c(4)))
        d = c(2) + x * (2 * c(3) + x * 3 * c(4))
        if (abs(d) < 1d-12) exit attempt
        if (abs(f) < 1d-13) then
          done = .true.
          exit iterate
        end if
        if (i > 20 .and. abs(f) > last) return
        last = abs(f)
        x = x - f / d
        cycle iterate
      end block attempt
      x = x + 0.5d0
    end do iterate
  end subroutine
end module
subroutine cubic_roots(c, n, x)
  use steps
  integer, intent(in) :: n
  real(8), intent(in) :: c(4, n)
  real(8), intent(out) :: x(n)
  integer :: k, tries
  logical :: done
  do k = 1, n
    x(k) = 1
    do tries = 1, 5
      call refine(c(:, k), x(k), done)
      if (done) exit
      x(k) = x(k) - tries
    end do
  end do
end subroutine
