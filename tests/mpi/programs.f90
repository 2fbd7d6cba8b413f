! The programs of programs.c again, in Fortran: MPI by mpif.h.

! y = sin(x) * left neighbour's x**2
subroutine ring(x, n, y)
  implicit none
  include 'mpif.h'
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n)
  real(8) :: from(n), to(n)
  integer :: rank, ranks, left, right, error, status(MPI_STATUS_SIZE)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  to = x**2
  if (mod(rank, 2) == 0) then
    call MPI_Send(to, n, MPI_DOUBLE_PRECISION, right, 7, MPI_COMM_WORLD, error)
    call MPI_Recv(from, n, MPI_DOUBLE_PRECISION, left, 7, MPI_COMM_WORLD, status, error)
  else
    call MPI_Recv(from, n, MPI_DOUBLE_PRECISION, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPI_Send(to, n, MPI_DOUBLE_PRECISION, right, 7, MPI_COMM_WORLD, error)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, error)
  y = sin(x) * from
end subroutine

real(8) function norm(x, n)
  implicit none
  include 'mpif.h'
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8) :: mine, all
  integer :: error
  mine = sum(x**2)
  call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  mine = all * x(1)
  call MPI_Allreduce(MPI_IN_PLACE, mine, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  norm = sqrt(all) + mine
end function

! Everything is added up on one rank, which sends the others the result.
real(8) function spread_out(x, n)
  implicit none
  include 'mpif.h'
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8) :: mine, all, result
  integer :: rank, error
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  mine = sum(exp(x)) * (rank + 1)
  all = 0
  call MPI_Reduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
  result = all * all
  call MPI_Bcast(result, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  spread_out = result * x(1)
end function

! Heat with the ends of each stretch exchanged by MPI_Sendrecv; MPI_PROC_NULL at the ends of the rod.
subroutine heat(u0, n, steps, u)
  implicit none
  include 'mpif.h'
  integer, intent(in) :: n, steps
  real(8), intent(in) :: u0(n)
  real(8), intent(out) :: u(n)
  real(8) :: a(0:n+1), b(n)
  integer :: rank, ranks, left, right, step, error
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  a = 0
  a(1:n) = u0
  do step = 1, steps
    call MPI_Sendrecv(a(n), 1, MPI_DOUBLE_PRECISION, right, 1, a(0), 1, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv(a(1), 1, MPI_DOUBLE_PRECISION, left, 2, a(n+1), 1, MPI_DOUBLE_PRECISION, right, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    b = a(1:n) + 0.2d0 * (a(0:n-1) - 2 * a(1:n) + a(2:n+1)) * (1 + a(1:n))
    a(1:n) = b
  end do
  u = a(1:n)
end subroutine

! The same, nonblocking.
subroutine heat_nonblocking(u0, n, steps, u)
  implicit none
  include 'mpif.h'
  integer, intent(in) :: n, steps
  real(8), intent(in) :: u0(n)
  real(8), intent(out) :: u(n)
  real(8) :: a(0:n+1), b(n)
  integer :: rank, ranks, step, i, m, error, requests(4)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  a = 0
  a(1:n) = u0
  do step = 1, steps
    m = 0
    if (rank > 0) then
      call MPI_Irecv(a(0), 1, MPI_DOUBLE_PRECISION, rank - 1, 1, MPI_COMM_WORLD, requests(m+1), error)
      call MPI_Isend(a(1), 1, MPI_DOUBLE_PRECISION, rank - 1, 2, MPI_COMM_WORLD, requests(m+2), error)
      m = m + 2
    end if
    if (rank < ranks - 1) then
      call MPI_Irecv(a(n+1), 1, MPI_DOUBLE_PRECISION, rank + 1, 2, MPI_COMM_WORLD, requests(m+1), error)
      call MPI_Isend(a(n), 1, MPI_DOUBLE_PRECISION, rank + 1, 1, MPI_COMM_WORLD, requests(m+2), error)
      m = m + 2
    end if
    if (mod(step, 2) == 0) then
      call MPI_Waitall(m, requests, MPI_STATUSES_IGNORE, error)
    else
      do i = 1, m
        call MPI_Wait(requests(i), MPI_STATUS_IGNORE, error)
      end do
    end if
    do i = 1, n
      b(i) = a(i) + 0.2d0 * (a(i-1) - 2 * a(i) + a(i+1)) * (1 + a(i))
    end do
    a(1:n) = b
  end do
  u = a(1:n)
end subroutine
