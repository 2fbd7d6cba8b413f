! Objects of derived type that are assigned as a whole: parts of their own, an allocatable array, a pointer, a text; allocate with source=.
module layers
  implicit none

  type :: material
    integer :: id = 0
    character(len=12) :: name = 'none'
    real(8) :: conductivity(2) = 1.0d0
  end type

  type :: layer
    type(material) :: of
    real(8), allocatable :: temperature(:)
    real(8), pointer :: outside(:) => null()
    complex(8) :: phase = (0.0d0, 0.0d0)
    logical :: is_wet = .false.
    character(len=:), allocatable :: note
  end type

contains

  subroutine copied_objects(x, y, n)
    integer, intent(in) :: n
    real(8), intent(in), target :: x(n)
    real(8), intent(out) :: y(n)
    type(layer) :: first, second
    type(layer), allocatable :: third
    type(material), allocatable :: materials(:), others(:)
    integer :: i

    first%of%name = 'clay'
    first%of%id = 2
    first%of%conductivity = [x(1), x(2) * x(1)]
    allocate(first%temperature(n))
    first%temperature = x**2
    first%outside => x
    first%phase = cmplx(x(1), x(2), 8)
    first%note = 'measured'

    second = first
    second%temperature(1) = 3.0d0 * second%temperature(1)
    second%of%conductivity(2) = second%of%conductivity(2) + x(n)
    second%is_wet = .true.
    second%note = second%note // ' twice'
    allocate(third, source=second)

    allocate(materials(n))
    do i = 1, n
      materials(i) = second%of
      materials(i)%conductivity(1) = x(i)
    end do
    others = materials
    others(2:n) = others(1:n-1)

    do i = 1, n
      y(i) = first%temperature(i) * second%temperature(i) + third%of%conductivity(2) * third%outside(i)
      y(i) = y(i) + real(third%phase) * aimag(second%phase) * others(i)%conductivity(1)
      if (third%is_wet) y(i) = y(i) * third%of%id + len(third%note)
    end do
  end subroutine
end module
