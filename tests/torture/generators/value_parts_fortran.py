# ruff: noqa: E501 (the texts of programs are what is long)
"""The parts of Fortran programs whose path depends on values, each as C for the reference and as Fortran for ffgrad.

Both texts of a part stand side by side and compute the same: the C counts from 0, the Fortran mostly from 1. In the Fortran ``rk`` is the kind of all
reals. A condition never relies on ``.and.`` to skip its second half: Fortran may evaluate both. Here are the containers; sorts, control flow and state
are in the modules whose names begin alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from torture.generators.value_parts import ROOM, Part, Writer


@dataclass
class FortranPart(Part):
    """A part in both languages. ``functions`` and ``statement`` are the C."""

    fortran: str = ""
    """Statements that change the array ``a`` of ``m`` numbers and the sum ``s``."""
    declarations: str = ""
    """The local variables of these statements."""
    procedures: str = ""
    """Procedures that they call."""
    specification: str = ""
    """Types and variables of the module that holds them."""
    results: tuple[str, ...] = ()
    """Which of the procedures are functions: an external one has to be declared."""
    is_old: bool = False
    """Whether a construct does not go into a ``block``: COMMON, DATA, labels."""


class Pair(NamedTuple):
    """The same in C and in Fortran."""

    c: str
    f: str


class Smooth(NamedTuple):
    """A smooth and bounded function, applied to an expression of either language."""

    c: Callable[[str], str]
    f: Callable[[str], str]


class FortranWriter(Writer):
    """Random choices of one program in two languages."""

    def constant(self, low: float = -1.2, high: float = 1.2) -> Pair:
        """A constant."""
        value = f"{self.random.uniform(low, high):.3f}"
        return Pair(f"(real){value}", f"({value}_rk)" if value.startswith("-") else f"{value}_rk")

    def bounded(self) -> Smooth:
        """A smooth and bounded function."""
        name = self.random.choice(["SIN", "COS", "TANH", "ATAN", "BELL"])
        return Smooth(
            lambda u: f"{name}({u})", lambda u: f"exp(-({u})**2)" if name == "BELL" else f"{name.lower()}({u})"
        )


def slots(w: FortranWriter) -> FortranPart:
    """Two or three slots, and an index that numbers move."""
    count, c, d, t, g = w.random.choice([2, 3]), w.constant(0.5, 1.5), w.constant(), w.constant(-0.5, 0.5), w.bounded()
    flip = w.random.choice(
        [Pair(f"k = (k + 1) % {count};", f"k = mod(k + 1, {count})"), Pair(f"k = {count - 1} - k;", f"k = {count - 1} - k")]
    )  # fmt: skip
    return FortranPart(
        "slots",
        "",
        f"""real q[{count}]; int k = 0;
  for (int i = 0; i < {count}; i++) q[i] = {c.c} + (real)0.1 * i;
  for (int i = 0; i < m; i++) {{
    q[k] = {g.c(f"q[{count - 1} - k] * a[i]")} + {d.c};
    if (LESS(a[i], {t.c})) {flip.c}
    s += q[0] * q[{count - 1}];
    a[i] = a[i] + (real)0.3 * q[k];
  }}""",
        declarations=f"real(rk) :: q(0:{count - 1})\ninteger :: i, k",
        fortran=f"""k = 0
q = [({c.f} + 0.1_rk * i, i = 0, {count - 1})]
do i = 1, m
q(k) = {g.f(f"q({count - 1} - k) * a(i)")} + {d.f}
if (a(i) < {t.f}) {flip.f}
s = s + q(0) * q({count - 1})
a(i) = a(i) + 0.3_rk * q(k)
end do""",
    )


def stack(w: FortranWriter) -> FortranPart:
    """Push and pop by the sign of a number; the stack is a derived type, or an array and a count."""
    k, c, t, d, g = w.fresh(), w.constant(0.5, 1.0), w.constant(-0.3, 0.3), w.constant(), w.bounded()
    typed = w.random.random() < 0.5
    use = w.random.choice(
        [Pair("s += v;", "s = s + v"), Pair("s += v * (real)top;", "s = s + v * real(top, rk)"), Pair("s = s * (real)0.9 + v * v;", "s = s * 0.9_rk + v * v")]
    )  # fmt: skip
    c_text = f"""real st[{ROOM + 1}]; int top = 1; st[0] = {c.c};
  for (int i = 0; i < m; i++) {{
    if (LESS({t.c}, a[i])) {{ st[top] = {g.c("st[top - 1] * a[i]")}; top++; }}
    else if (top > 1) {{ top--; real v = st[top]; {use.c} }}
    a[i] = a[i] * st[top - 1] + {d.c};
  }}
  for (int i = 0; i < top; i++) s += st[i];"""
    if not typed:
        return FortranPart(
            "stack",
            "",
            c_text,
            declarations=f"real(rk) :: st({ROOM + 1}), v\ninteger :: i, top",
            fortran=f"""top = 1
st(1) = {c.f}
do i = 1, m
if (a(i) > {t.f}) then
st(top + 1) = {g.f("st(top) * a(i)")}
top = top + 1
else if (top > 1) then
v = st(top)
top = top - 1
{use.f}
end if
a(i) = a(i) * st(top) + {d.f}
end do
s = s + sum(st(1:top))""",
        )
    return FortranPart(
        "stack-typed",
        "",
        c_text,
        specification=f"""type :: stack{k}
integer :: top = 0
real(rk) :: st({ROOM + 1})
end type""",
        procedures=f"""subroutine push{k}(on, v)
type(stack{k}), intent(inout) :: on
real(rk), intent(in) :: v
on%top = on%top + 1
on%st(on%top) = v
end subroutine
subroutine pop{k}(on, v)
type(stack{k}), intent(inout) :: on
real(rk), intent(out) :: v
v = on%st(on%top)
on%top = on%top - 1
end subroutine""",
        declarations=f"type(stack{k}) :: on\nreal(rk) :: v\ninteger :: i, top",
        fortran=f"""on%top = 0
call push{k}(on, {c.f})
do i = 1, m
if (a(i) > {t.f}) then
call push{k}(on, {g.f("on%st(on%top) * a(i)")})
else if (on%top > 1) then
call pop{k}(on, v)
top = on%top
{use.f}
end if
a(i) = a(i) * on%st(on%top) + {d.f}
end do
do i = 1, on%top
s = s + on%st(i)
end do""",
    )


def queue(w: FortranWriter) -> FortranPart:
    """A ring buffer: values decide when its head is taken."""
    size, c, d, t, g = w.random.choice([4, 8]), w.constant(), w.constant(0.5, 1.5), w.constant(-0.3, 0.5), w.bounded()
    return FortranPart(
        "queue",
        "",
        f"""real qu[{size}]; int head = 0, count = 0;
  for (int i = 0; i < {size}; i++) qu[i] = {c.c};
  for (int i = 0; i < m; i++) {{
    if (count < {size}) {{ qu[(head + count) % {size}] = a[i] * {d.c}; count++; }}
    while (count > 0 && LESS(qu[head], {t.c})) {{
      s += {g.c("qu[head]")} * a[i];
      head = (head + 1) % {size}; count--;
    }}
    if (count > 0) a[i] = a[i] + qu[head] * qu[head] * (real)0.2;
  }}""",
        declarations=f"integer, parameter :: room = {size}\nreal(rk) :: qu(room)\ninteger :: i, head, held",
        fortran=f"""qu = {c.f}
head = 1
held = 0
do i = 1, m
if (held < room) then
qu(mod(head + held - 1, room) + 1) = a(i) * {d.f}
held = held + 1
end if
do while (held > 0)
if (.not. qu(head) < {t.f}) exit
s = s + {g.f("qu(head)")} * a(i)
head = mod(head, room) + 1
held = held - 1
end do
if (held > 0) a(i) = a(i) + qu(head)**2 * 0.2_rk
end do""",
    )


def bins(w: FortranWriter) -> FortranPart:
    """A histogram with neighbouring bins, by ``int``."""
    count, c, d, g = w.random.choice([4, 6, 9]), w.constant(), w.constant(), w.bounded()
    half = f"{count / 2 - 0.01:.2f}"
    return FortranPart(
        "bins",
        "",
        f"""real bin[{count + 1}];
  for (int i = 0; i <= {count}; i++) bin[i] = {c.c};
  for (int i = 0; i < m; i++) {{
    real u = (TANH(a[i]) + (real)1.0) * (real){half};
    int b = INT(u); real f = u - (real)b;
    bin[b] = bin[b] * ((real)1.0 - f) + a[i] * {d.c};
    bin[b + 1] = bin[b + 1] + bin[b] * f;
    a[i] = {g.c("bin[b]")} + a[i] * (real)0.5;
  }}
  for (int i = 0; i <= {count}; i++) s += bin[i] * bin[i];""",
        declarations=f"real(rk) :: bin(0:{count}), u, f\ninteger :: i, b",
        fortran=f"""bin = {c.f}
do i = 1, m
u = (tanh(a(i)) + 1.0_rk) * {half}_rk
b = int(u)
f = u - real(b, rk)
bin(b) = bin(b) * (1.0_rk - f) + a(i) * {d.f}
bin(b + 1) = bin(b + 1) + bin(b) * f
a(i) = {g.f("bin(b)")} + a(i) * 0.5_rk
end do
s = s + dot_product(bin, bin)""",
    )


def heap(w: FortranWriter) -> FortranPart:
    """A priority queue: values are inserted, and removed by size."""
    k, c, g = w.fresh(), w.constant(), w.bounded()
    return FortranPart(
        "priority-queue",
        f"""static void put{k}(real *h, int *n, real v) {{
  int i = (*n)++; h[i] = v;
  while (i > 0 && LESS(h[i], h[(i - 1) / 2])) {{ real t = h[i]; h[i] = h[(i - 1) / 2]; h[(i - 1) / 2] = t; i = (i - 1) / 2; }}
}}
static void take{k}(real *h, int *n, real *v) {{
  *v = h[0]; int last = --*n; h[0] = h[last]; int i = 0;
  for (;;) {{
    int c = 2 * i + 1; if (c >= last) break;
    if (c + 1 < last && LESS(h[c + 1], h[c])) c++;
    if (!LESS(h[c], h[i])) break;
    real t = h[i]; h[i] = h[c]; h[c] = t; i = c;
  }}
}}""",
        f"""{{ real h[{2 * ROOM}], v; int held = 0;
    for (int i = 0; i < m; i++) {{
      put{k}(h, &held, a[i]);
      if (i % 3 == 2) {{ take{k}(h, &held, &v); s += v * (real)(i + 1); put{k}(h, &held, {g.c("v")} + {c.c}); }}
    }}
    for (int i = 0; held > 0; i++) {{ take{k}(h, &held, &v); a[i] = v * v + a[i] * (real)0.1; }} }}""",
        procedures=f"""subroutine put{k}(h, n, v)
real(rk), intent(inout) :: h(*)
integer, intent(inout) :: n
real(rk), intent(in) :: v
integer :: i
real(rk) :: t
n = n + 1
i = n
h(i) = v
do while (i > 1)
if (h(i) >= h(i / 2)) exit
t = h(i)
h(i) = h(i / 2)
h(i / 2) = t
i = i / 2
end do
end subroutine
subroutine take{k}(h, n, v)
real(rk), intent(inout) :: h(*)
integer, intent(inout) :: n
real(rk), intent(out) :: v
integer :: i, c
real(rk) :: t
v = h(1)
h(1) = h(n)
n = n - 1
i = 1
do
c = 2 * i
if (c > n) exit
if (c < n) then
if (h(c + 1) < h(c)) c = c + 1
end if
if (h(c) >= h(i)) exit
t = h(i)
h(i) = h(c)
h(c) = t
i = c
end do
end subroutine""",
        declarations=f"real(rk) :: h({2 * ROOM}), v\ninteger :: i, held",
        fortran=f"""held = 0
do i = 1, m
call put{k}(h, held, a(i))
if (mod(i, 3) == 0) then
call take{k}(h, held, v)
s = s + v * i
call put{k}(h, held, {g.f("v")} + {c.f})
end if
end do
i = 1
do while (held > 0)
call take{k}(h, held, v)
a(i) = v**2 + a(i) * 0.1_rk
i = i + 1
end do""",
    )


def linked(w: FortranWriter) -> FortranPart:
    """A sorted list, by index or by pointers; then followed."""
    k, c, g = w.fresh(), w.constant(), w.bounded()
    c_text = f"""{{ int next[{ROOM + 1}]; int first = -1; real sum = {c.c};
    for (int i = 0; i < m; i++) {{
      int before = -1, at = first;
      while (at >= 0 && LESS(a[at], a[i])) {{ before = at; at = next[at]; }}
      next[i] = at; if (before < 0) first = i; else next[before] = i;
    }}
    for (int at = first; at >= 0; at = next[at]) {{ sum = {g.c("sum * a[at]")} + a[at]; a[at] = sum * (real)0.5; }}
    s += sum; }}"""
    if w.random.random() < 0.6:
        return FortranPart(
            "list",
            "",
            c_text,
            declarations=f"integer :: next(0:{ROOM}), i, at, before\nreal(rk) :: total",
            fortran=f"""next(0) = 0
do i = 1, m
before = 0
at = next(0)
do while (at /= 0)
if (.not. a(at) < a(i)) exit
before = at
at = next(at)
end do
next(i) = at
next(before) = i
end do
total = {c.f}
at = next(0)
do while (at > 0)
total = {g.f("total * a(at)")} + a(at)
a(at) = total * 0.5_rk
at = next(at)
end do
s = s + total""",
        )
    return FortranPart(
        "list-pointer",
        "",
        c_text,
        specification=f"""type :: node{k}
real(rk) :: value
integer :: place
type(node{k}), pointer :: next => null()
end type""",
        declarations=f"type(node{k}), pointer :: first, made, at, before\nreal(rk) :: total\ninteger :: i",
        fortran=f"""nullify(first)
do i = 1, m
nullify(before)
at => first
do while (associated(at))
if (.not. at%value < a(i)) exit
before => at
at => at%next
end do
allocate(made)
made%value = a(i)
made%place = i
made%next => at
if (associated(before)) then
before%next => made
else
first => made
end if
end do
total = {c.f}
do while (associated(first))
at => first
total = {g.f("total * at%value")} + at%value
a(at%place) = total * 0.5_rk
first => at%next
deallocate(at)
end do
s = s + total""",
    )


def window(w: FortranWriter) -> FortranPart:
    """The largest number of a sliding window, by a queue of indices."""
    width, g, memory = w.random.choice([2, 3]), w.bounded(), w.random.choice(["allocatable", "pointer"])
    return FortranPart(
        f"window-{memory}",
        "",
        f"""{{ int at[{ROOM}], head = 0, tail = 0; real b[{ROOM}];
    for (int i = 0; i < m; i++) {{
      while (tail > head && LESS(a[at[tail - 1]], a[i])) tail--;
      at[tail++] = i;
      if (at[head] <= i - {width}) head++;
      b[i] = a[at[head]] * a[i];
    }}
    for (int i = 0; i < m; i++) {{ s += b[i]; a[i] = {g.c("b[i]")}; }} }}""",
        declarations=f"integer :: at({ROOM}), head, tail, i\nreal(rk), {memory} :: b(:)",
        fortran=f"""allocate(b(m))
head = 1
tail = 0
do i = 1, m
do while (tail >= head)
if (a(at(tail)) >= a(i)) exit
tail = tail - 1
end do
tail = tail + 1
at(tail) = i
if (at(head) <= i - {width}) head = head + 1
b(i) = a(at(head)) * a(i)
end do
s = s + sum(b)
a(1:m) = {g.f("b(1:m)")}
deallocate(b)""",
    )
