# ruff: noqa: E501 (the texts of programs are what is long)
"""The parts of :mod:`value_parts_fortran` about memory: saved, common and module variables, callbacks, tables, derived types."""

from __future__ import annotations

from torture.generators.value_parts import ROOM
from torture.generators.value_parts_fortran import FortranPart, FortranWriter, Pair


def memo(w: FortranWriter) -> FortranPart:
    """A memo in SAVE variables: of the last argument, or a table that is filled as its entries are needed."""
    k, g = w.fresh(), w.bounded()
    if w.random.random() < 0.5:
        return FortranPart(
            "memo-last",
            f"""static real known{k}(real x, int fresh) {{
  static int have; static real x0, y0;
  if (fresh) have = 0;
  if (have && !LESS(x, x0) && !LESS(x0, x)) return y0;
  have = 1; x0 = x; y0 = {g.c("x * x")} + x;
  return y0;
}}""",
            f"for (int i = 0; i < m; i++) {{ real v = known{k}(a[i], i == 0); if (i % 2) v = v + known{k}(a[i], 0); a[i] = v * (real)0.6; s += v; }}",
            procedures=f"""real(rk) function known{k}(x, fresh)
real(rk), intent(in) :: x
logical, intent(in) :: fresh
logical, save :: have = .false.
real(rk), save :: x0 = 0.0_rk, y0 = 0.0_rk
if (fresh) have = .false.
if (.not. have .or. x < x0 .or. x0 < x) then
have = .true.
x0 = x
y0 = {g.f("x * x")} + x
end if
known{k} = y0
end function""",
            results=(f"known{k}",),
            declarations="real(rk) :: v\ninteger :: i",
            fortran=f"""do i = 1, m
v = known{k}(a(i), i == 1)
if (mod(i, 2) == 0) v = v + known{k}(a(i), .false.)
a(i) = v * 0.6_rk
s = s + v
end do""",
        )
    return FortranPart(
        "memo-table",
        f"""static real entry{k}(real x, int fresh) {{
  static int have[5]; static real kept[5];
  if (fresh) for (int i = 0; i < 5; i++) have[i] = 0;
  int b = INT((TANH(x) + (real)1.0) * (real)2.49);
  if (!have[b]) {{ have[b] = 1; kept[b] = {g.c("x")} * x + (real)b; }}
  return kept[b];
}}""",
        f"for (int i = 0; i < m; i++) {{ real v = entry{k}(a[i], i == 0); s += v; a[i] = a[i] * v * (real)0.4; }}",
        procedures=f"""real(rk) function entry{k}(x, fresh)
real(rk), intent(in) :: x
logical, intent(in) :: fresh
integer :: b
real(rk) kept(0:4)
logical have(0:4)
save kept, have
if (fresh) have = .false.
b = int((tanh(x) + 1.0_rk) * 2.49_rk)
if (.not. have(b)) then
have(b) = .true.
kept(b) = {g.f("x")} * x + b
end if
entry{k} = kept(b)
end function""",
        results=(f"entry{k}",),
        declarations="real(rk) :: v\ninteger :: i",
        fortran=f"do i = 1, m\nv = entry{k}(a(i), i == 1)\ns = s + v\na(i) = a(i) * v * 0.4_rk\nend do",
    )


def work(w: FortranWriter) -> FortranPart:
    """A work array in COMMON, in a module, or saved; filled by one procedure and read by another."""
    k, c, d, g = w.fresh(), w.constant(), w.constant(-0.3, 0.6), w.bounded()
    where = w.random.choice(["common", "module", "save"])
    c_functions = f"""static real work{k}[{ROOM}]; static int used{k};
static void fill{k}(const real *a, int m) {{
  used{k} = 0;
  for (int i = 0; i < m; i++) if (LESS(a[i], {d.c})) work{k}[used{k}++] = {g.c("a[i]")};
  for (int i = 1; i < used{k}; i++) if (LESS(work{k}[i], work{k}[i - 1])) work{k}[i] = work{k}[i] * work{k}[i - 1] + {c.c};
}}"""
    c_text = f"fill{k}(a, m); for (int i = 0; i < used{k}; i++) {{ s += work{k}[i]; a[i] = a[i] * (real)0.4 + work{k}[used{k} - 1 - i]; }}"
    held = f"real(rk) work{k}({ROOM})\ninteger used{k}\n"
    fill = f"""used{k} = 0
do i = 1, m
if (a(i) < {d.f}) then
used{k} = used{k} + 1
work{k}(used{k}) = {g.f("a(i)")}
end if
end do
do i = 2, used{k}
if (work{k}(i) < work{k}(i - 1)) work{k}(i) = work{k}(i) * work{k}(i - 1) + {c.f}
end do"""
    read = f"""do i = 1, used{k}
s = s + work{k}(i)
a(i) = a(i) * 0.4_rk + work{k}(used{k} + 1 - i)
end do"""
    if where == "save":
        return FortranPart(
            "work-save",
            c_functions,
            c_text,
            procedures=f"""subroutine update{k}(a, m, s)
integer, intent(in) :: m
real(rk), intent(inout) :: a(m), s
real(rk), save :: work{k}({ROOM})
integer, save :: used{k}
integer :: i
{fill}
{read}
end subroutine""",
            fortran=f"call update{k}(a, m, s)",
        )
    common = f"{held}common /block{k}/ work{k}, used{k}\n" if where == "common" else ""
    return FortranPart(
        f"work-{where}",
        c_functions,
        c_text,
        specification="" if common else held,
        procedures=f"""subroutine fill{k}(a, m)
integer, intent(in) :: m
real(rk), intent(in) :: a(m)
{common}integer :: i
{fill}
end subroutine""",
        declarations=f"{common}integer :: i",
        fortran=f"call fill{k}(a, m)\n{read}",
        is_old=where == "common",
    )


def callback(w: FortranWriter) -> FortranPart:
    """A solver that calls a function it is given; that function's parameter is in a module or in COMMON."""
    k, c, how = w.fresh(), w.constant(0.5, 1.5), w.random.choice(["module", "common", "pointer"])
    common = f"real(rk) given{k}\ncommon /block{k}/ given{k}\n" if how == "common" else ""
    shape = f"abstract interface\nreal(rk) function shape{k}(u)\nreal(rk), intent(in) :: u\nend function\nend interface"
    argument = f"procedure(shape{k}) :: f" if how == "pointer" else "real(rk), external :: f"
    return FortranPart(
        f"callback-{how}",
        f"""static real given{k};
static real residual{k}(real u) {{ return u * u * u + u - given{k}; }}
static real bisect{k}(real (*f)(real), real lo, real hi) {{
  for (int i = 0; i < 6; i++) {{ real mid = (lo + hi) * (real)0.5; if (LESS(f(mid), (real)0.0)) lo = mid; else hi = mid; }}
  real u = (lo + hi) * (real)0.5;
  for (int i = 0; i < 4; i++) u = u - f(u) / ((real)3.0 * u * u + (real)1.0);
  return u;
}}""",
        f"for (int i = 0; i < m; i++) {{ given{k} = a[i] * {c.c}; real u = bisect{k}(residual{k}, (real)-3.0, (real)3.0); s += u; a[i] = u * a[i]; }}",
        specification="" if common else f"real(rk) :: given{k}" + (f"\n{shape}" if how == "pointer" else ""),
        procedures=f"""real(rk) function residual{k}(u)
real(rk), intent(in) :: u
{common}residual{k} = u**3 + u - given{k}
end function
real(rk) function bisect{k}(f, first, last)
{argument}
real(rk), intent(in) :: first, last
real(rk) :: lo, hi, mid, u
integer :: i
lo = first
hi = last
do i = 1, 6
mid = (lo + hi) * 0.5_rk
if (f(mid) < 0.0_rk) then
lo = mid
else
hi = mid
end if
end do
u = (lo + hi) * 0.5_rk
do i = 1, 4
u = u - f(u) / (3.0_rk * u**2 + 1.0_rk)
end do
bisect{k} = u
end function""",
        results=(f"residual{k}", f"bisect{k}"),
        declarations=f"{common}{f'procedure(shape{k}), pointer :: chosen' if how == 'pointer' else ''}\ninteger :: i\nreal(rk) :: u",
        fortran=f"""{f"chosen => residual{k}" if how == "pointer" else ""}
do i = 1, m
given{k} = a(i) * {c.f}
u = bisect{k}({"chosen" if how == "pointer" else f"residual{k}"}, -3.0_rk, 3.0_rk)
s = s + u
a(i) = u * a(i)
end do""",
        is_old=how == "common",
    )


def table(w: FortranWriter) -> FortranPart:
    """A lookup with interpolation, in a table of constants, of DATA, or of computed values."""
    how = w.random.choice(["parameter", "data", "computed"])
    values = [f"{w.random.uniform(-1, 1):.3f}" for _ in range(9)]
    kinds = ", ".join(f"{v}_rk" for v in values)
    fill = Pair("for (int i = 0; i < 9; i++) t[i] = SIN(a[i % m] + (real)i);", "do i = 0, 8\nt(i) = sin(a(mod(i, m) + 1) + real(i, rk))\nend do\n")  # fmt: skip
    declared = {
        "parameter": f"real(rk), parameter :: t(0:8) = [{kinds}]",
        "data": f"real(rk) t(0:8)\ndata t / {kinds} /",
        "computed": "real(rk) :: t(0:8)",
    }[how]
    return FortranPart(
        f"table-{how}",
        "",
        f"""{{ real t[9] = {{{", ".join(f"(real){v}" for v in values)}}}; {fill.c if how == "computed" else ""}
    for (int i = 0; i < m; i++) {{
      real u = (TANH(a[i]) + (real)1.0) * (real)3.99; int b = INT(u); real f = u - (real)b;
      real v = t[b] * ((real)1.0 - f) + t[b + 1] * f;
      a[i] = v + a[i] * (real)0.5; s += v * a[i];
    }} }}""",
        declarations=f"real(rk) :: u, f, v\ninteger :: i, b\n{declared}",
        fortran=f"""{fill.f if how == "computed" else ""}do i = 1, m
u = (tanh(a(i)) + 1.0_rk) * 3.99_rk
b = int(u)
f = u - b
v = t(b) * (1.0_rk - f) + t(b + 1) * f
a(i) = v + a(i) * 0.5_rk
s = s + v * a(i)
end do""",
        is_old=how == "data",
    )


def mixed(w: FortranWriter) -> FortranPart:
    """A derived type with constants beside a work array: in place, allocatable, or a pointer."""
    k, how = w.fresh(), w.random.choice(["array", "allocatable", "pointer"])
    values = [f"{w.random.uniform(0.2, 1):.3f}" for _ in range(4)]
    room = {"array": "real(rk) :: w(4)", "allocatable": "real(rk), allocatable :: w(:)", "pointer": "real(rk), pointer :: w(:)"}[how]  # fmt: skip
    return FortranPart(
        f"type-{how}",
        f"""static void phase{k}(real e, const real *rates, real *w) {{
  for (int j = 0; j < 4; j++) {{ w[j] = COS(rates[j] * e); if (LESS(w[j], (real)0.0)) w[j] = w[j] * e; }}
}}""",
        f"""{{ real rates[4] = {{{", ".join(f"(real){v}" for v in values)}}}, w[4];
    for (int i = 0; i < m; i++) {{ phase{k}(a[i], rates, w); for (int j = 0; j < 4; j++) s += w[j]; a[i] = a[i] + w[i % 4]; }} }}""",
        specification=f"""type :: mixed{k}
integer :: n = 4
real(rk) :: rates(4) = [{", ".join(f"{v}_rk" for v in values)}]
{room}
end type""",
        procedures=f"""subroutine phase{k}(e, d)
real(rk), intent(in) :: e
type(mixed{k}), intent(inout) :: d
integer :: j
do j = 1, d%n
d%w(j) = cos(d%rates(j) * e)
if (d%w(j) < 0.0_rk) d%w(j) = d%w(j) * e
end do
end subroutine""",
        declarations=f"type(mixed{k}) :: d\ninteger :: i",
        fortran=f"""{"" if how == "array" else "allocate(d%w(d%n))"}
do i = 1, m
call phase{k}(a(i), d)
s = s + sum(d%w)
a(i) = a(i) + d%w(mod(i - 1, 4) + 1)
end do
{"" if how == "array" else "deallocate(d%w)"}""",
    )
