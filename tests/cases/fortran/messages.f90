! Texts and types beside numbers: messages that are blanked, trimmed and joined, objects that `select type` distinguishes, and copies of
! sections for procedures with arrays of explicit shape.
module reservoir
  implicit none
  type :: outlet
    real(8) :: rate = 0
  end type
  type, extends(outlet) :: weir
    real(8) :: crest = 0
  end type
contains
  subroutine drain(level, rate, crest, flow, trouble)
    real(8), intent(in) :: level(:), rate, crest
    real(8), intent(out) :: flow(:)
    integer, intent(out) :: trouble
    character(200) :: message
    character(9) :: name
    type(weir) :: w
    integer :: n
    n = size(level)
    w%rate = rate
    w%crest = crest
    message = ''
    name = merge(' old weir', ' new gate', rate > -9)
    trouble = 0
    if (minval(level) < 0) then
      message = trim(adjustl(name))//': dry at '//trim(place(minloc(level, 1)))
      trouble = len_trim(message)
    end if
    if (index(name, 'weir') > 0) then
      call spill(n, w, level(n:1:-1), flow(n:1:-1))
    else
      flow = level
    end if
  end subroutine

  function place(i) result(text)
    integer, intent(in) :: i
    character(12) :: text
    text = repeat('x', i)
  end function

  subroutine spill(n, o, level, flow)
    integer, intent(in) :: n
    class(outlet), intent(in) :: o
    real(8), intent(in) :: level(n)
    real(8), intent(out) :: flow(n)
    integer :: i
    do i = 1, n
      flow(i) = one(o, level(i))
    end do
  end subroutine

  real(8) function one(o, level)
    class(outlet), intent(in) :: o
    real(8), intent(in) :: level
    select type (o)
    class is (weir)
      one = o%rate*(level - o%crest)**2
    class default
      one = o%rate*level
    end select
  end function
end module
