! One construct of Fortran 90 to 2018 in each procedure.
module constructs
  implicit none
  real(8), parameter :: tab(3) = [1d0, 2d0, 4d0]
contains
  subroutine assoc(x, n, y)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(8), intent(out) :: y(n)
    integer :: i
    y = 0
    associate (first => x(1), tail => x(2:n), out => y)
      out(1) = first**2
      do i = 2, n
        block
          real(8) :: t
          t = tail(i-1) * first
          out(i) = t * sin(t)
        end block
      end do
    end associate
  end subroutine
  subroutine doconc(x, n, y)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(8), intent(out) :: y(n)
    integer :: i
    real(8) :: t
    do concurrent (i = 1:n) local(t)
      t = x(i)**2
      y(i) = t + x(n+1-i)
    end do
    do concurrent (i = 1:n, x(i) > 0)
      y(i) = y(i) * x(i)
    end do
  end subroutine
  subroutine ptrs(x, n, y)
    integer, intent(in) :: n
    real(8), intent(in), target :: x(n)
    real(8), intent(out) :: y
    real(8), pointer :: p(:), q(:), r(:,:)
    real(8), target :: w(n)
    p => x(1:n:2)
    q => w
    q = x * 2
    y = sum(p**2) + sum(q)
    q => w(n:1:-1)
    y = y + dot_product(q, x)
    allocate(r(2, n))
    r(1, :) = x
    r(2, :) = w**2
    p => r(2, :)
    y = y + sum(p * r(1, :))
    deallocate(r)
  end subroutine
  subroutine opt2(a, b, r)
    real(8), intent(in) :: a
    real(8), intent(in), optional :: b
    real(8), intent(out), optional :: r
    if (present(r)) then
      r = a**2
      if (present(b)) r = r * b
    end if
  end subroutine
  subroutine optional_in(a, b, y)
    real(8), intent(in) :: a, b
    real(8), intent(out) :: y
    real(8) :: u, v
    call opt2(a, r=u)
    call opt2(a, b, v)
    call opt2(a)
    y = u + v
  end subroutine
  subroutine selcase(x, k, n, y)
    integer, intent(in) :: n, k(n)
    real(8), intent(in) :: x(n)
    real(8), intent(out) :: y(n)
    integer :: i
    character(4) :: nm
    do i = 1, n
      select case (k(i))
      case (:0)
        y(i) = x(i)
      case (1, 3)
        y(i) = x(i)**2
      case (4:7)
        y(i) = sin(x(i))
      case default
        y(i) = tab(2) * x(i)
      end select
      nm = 'lin'
      if (k(i) > 3) nm = 'quad'
      select case (nm)
      case ('lin')
        y(i) = y(i) + x(i)
      case ('quad')
        y(i) = y(i) * x(i)
      end select
    end do
  end subroutine
  elemental real(8) function soft(x, a)
    real(8), intent(in) :: x, a
    soft = log(1 + exp(a * x)) / a
  end function
  elemental subroutine split(x, u, v)
    real(8), intent(in) :: x
    real(8), intent(out) :: u, v
    u = x**2; v = cos(x)
  end subroutine
  subroutine elem(x, n, a, y)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n), a
    real(8), intent(out) :: y(n)
    real(8) :: u(n), v(n)
    call split(x, u, v)
    y = soft(u, a) * v + soft(x(n:1:-1), a)
  end subroutine
  recursive function fibx(n, x) result(r)
    integer, intent(in) :: n
    real(8), intent(in) :: x
    real(8) :: r
    if (n < 2) then
      r = x
    else
      r = fibx(n-1, x) + x * fibx(n-2, x)
    end if
  end function
  subroutine recur(x, y)
    real(8), intent(in) :: x
    real(8), intent(out) :: y
    y = fibx(6, x)
  end subroutine
  subroutine negst(x, n, y)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(8), intent(out) :: y(n)
    integer :: i
    y(n:1:-1) = x
    y(2:n) = y(2:n) * x(n:2:-1)
    do i = n, 1, -2
      y(i) = y(i) * x(i)
    end do
    y(1:n-1) = y(2:n) + y(1:n-1)
  end subroutine
  subroutine mergew(x, n, y)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(8), intent(out) :: y(n)
    real(8) :: t(n)
    t = merge(x**2, -x, x > 0)
    where (t > 0.3d0)
      y = t * x
    elsewhere (t > 0.1d0)
      y = x + 1
    elsewhere
      y = sin(t)
    end where
    where (x < 0) y = y * 2
  end subroutine
  subroutine arrs(a, x, n, m, y)
    integer, intent(in) :: n, m
    real(8), intent(in) :: a(n, m), x(m)
    real(8), intent(out) :: y(n)
    real(8) :: b(n, m), c(m*n), d(m, n), e(n,n)
    integer :: loc(1), l2(2)
    b = a + spread(x, 1, n)
    c = reshape(b, [m*n])
    d = reshape(c, [m, n], order=[2, 1])
    e = matmul(b, d)
    y = matmul(e, c(1:n)) + matmul(c(1:m), d)
    loc = minloc(x)
    l2 = maxloc(a)
    y = y * x(loc(1)) * a(l2(1), l2(2)) + minval(a, dim=2) + maxval(x) + sum(a, dim=2) * product(x)
    y = y + cshift(y, 1) + eoshift(y, -1) + norm2(x) + dot_product(x, x) * count(x > 0) + sum(x, mask=x > 0.1d0)
    y = y + pack(c(1:n), .true.) + sum(transpose(a), dim=1)
  end subroutine
end module
