# ruff: noqa: E501 (the texts of programs are what is long)
"""The parts of :mod:`value_parts_fortran` that sort and select."""

from __future__ import annotations

from torture.generators.value_parts import ROOM
from torture.generators.value_parts_fortran import FortranPart, FortranWriter, Pair


def after(w: FortranWriter) -> Pair:
    """Functions of sorted numbers."""
    c, g = w.constant(), w.bounded()
    return w.random.choice(
        [
            Pair(
                "for (int i = 1; i < m; i++) a[i] = a[i] + (real)0.3 * a[i - 1] * a[i];",
                "do i = 2, m\na(i) = a(i) + 0.3_rk * a(i - 1) * a(i)\nend do",
            ),
            Pair(
                f"for (int i = 0; i < m; i++) s += a[i] * (real)(i + 1) * {c.c};",
                f"do i = 1, m\ns = s + a(i) * real(i, rk) * {c.f}\nend do",
            ),
            Pair("s += a[m / 2] * a[0] + a[m - 1];", "s = s + a(m / 2 + 1) * a(1) + a(m)"),
            Pair(
                f"for (int i = 0; i < m; i++) a[i] = {g.c('a[i]')} * (real)(i + 1);",
                f"a(1:m) = {g.f('a(1:m)')} * [(real(i, rk), i = 1, m)]",
            ),
        ]
    )


def sorting(w: FortranWriter) -> FortranPart:
    """One of the sorts that people write."""
    k, how, use = w.fresh(), w.random.choice(["insertion", "bubble", "selection", "minloc", "shell", "heap"]), after(w)
    selection = """
  for (int i = 0; i < m; i++) {
    int least = i;
    for (int j = i + 1; j < m; j++) if (LESS(a[j], a[least])) least = j;
    real t = a[i]; a[i] = a[least]; a[least] = t;
  }"""
    c_body, body = {
        "insertion": Pair(
            """
  for (int i = 1; i < m; i++) { real v = a[i]; int j = i; while (j > 0 && LESS(v, a[j - 1])) { a[j] = a[j - 1]; j--; } a[j] = v; }""",
            """integer :: i, j
real(rk) :: v
do i = 2, m
v = a(i)
do j = i - 1, 1, -1
if (a(j) <= v) exit
a(j + 1) = a(j)
end do
a(j + 1) = v
end do""",
        ),
        "bubble": Pair(
            """
  int swapped = 1;
  while (swapped) {
    swapped = 0;
    for (int i = 1; i < m; i++) if (LESS(a[i], a[i - 1])) { real t = a[i]; a[i] = a[i - 1]; a[i - 1] = t; swapped = 1; }
  }""",
            """integer :: i
logical :: swapped
real(rk) :: t
swapped = .true.
do while (swapped)
swapped = .false.
do i = 2, m
if (a(i) >= a(i - 1)) cycle
t = a(i)
a(i) = a(i - 1)
a(i - 1) = t
swapped = .true.
end do
end do""",
        ),
        "selection": Pair(
            selection,
            """integer :: i, j, least
real(rk) :: t
do i = 1, m
least = i
do j = i + 1, m
if (a(j) < a(least)) least = j
end do
t = a(i)
a(i) = a(least)
a(least) = t
end do""",
        ),
        "minloc": Pair(
            selection,
            """integer :: i, least
real(rk) :: t
do i = 1, m - 1
least = i - 1 + minloc(a(i:m), 1)
t = a(i)
a(i) = a(least)
a(least) = t
end do""",
        ),
        "shell": Pair(
            """
  for (int gap = m / 2; gap > 0; gap /= 2)
    for (int i = gap; i < m; i++) {
      real v = a[i]; int j = i;
      for (; j >= gap && LESS(v, a[j - gap]); j -= gap) a[j] = a[j - gap];
      a[j] = v;
    }""",
            """integer :: gap, i, j
real(rk) :: v
gap = m
10 gap = gap / 2
if (gap == 0) goto 40
do i = gap + 1, m
v = a(i)
j = i
20 if (j - gap < 1) goto 30
if (a(j - gap) <= v) goto 30
a(j) = a(j - gap)
j = j - gap
goto 20
30 a(j) = v
end do
goto 10
40 continue""",
        ),
        "heap": Pair(
            """
  for (int end = m, at = m / 2; end > 1;) {
    if (at > 0) at--; else { end--; real t = a[end]; a[end] = a[0]; a[0] = t; }
    int root = at;
    while (2 * root + 1 < end) {
      int child = 2 * root + 1;
      if (child + 1 < end && LESS(a[child], a[child + 1])) child++;
      if (!LESS(a[root], a[child])) break;
      real t = a[root]; a[root] = a[child]; a[child] = t; root = child;
    }
  }""",
            """integer :: last, at, root, child
real(rk) :: t
last = m
at = m / 2 + 1
do while (last > 1)
if (at > 1) then
at = at - 1
else
t = a(last)
a(last) = a(1)
a(1) = t
last = last - 1
end if
root = at
do
child = 2 * root
if (child > last) exit
if (child < last) then
if (a(child) < a(child + 1)) child = child + 1
end if
if (a(root) >= a(child)) exit
t = a(root)
a(root) = a(child)
a(child) = t
root = child
end do
end do""",
        ),
    }[how]
    return FortranPart(
        f"sort-{how}",
        f"static void sort{k}(real *a, int m) {{{c_body}\n}}",
        f"sort{k}(a, m); {use.c}",
        procedures=f"subroutine sort{k}(a, m)\ninteger, intent(in) :: m\nreal(rk), intent(inout) :: a(m)\n{body}\nend subroutine",
        declarations="integer :: i",
        fortran=f"call sort{k}(a, m)\n{use.f}",
    )


HOARE = Pair(
    """int i = lo, j = hi; real p = a[(lo + hi) / 2];
    while (i <= j) {
      while (LESS(a[i], p)) i++;
      while (LESS(p, a[j])) j--;
      if (i <= j) { real t = a[i]; a[i] = a[j]; a[j] = t; i++; j--; }
    }""",
    # (lo + hi) / 2 of the C, counted from 1.
    """i = lo
j = hi
p = a((lo + hi - 2) / 2 + 1)
do while (i <= j)
do while (a(i) < p)
i = i + 1
end do
do while (p < a(j))
j = j - 1
end do
if (i <= j) then
t = a(i)
a(i) = a(j)
a(j) = t
i = i + 1
j = j - 1
end if
end do""",
)


LOMUTO = Pair(
    """real p = a[hi]; int i = lo;
    for (int j = lo; j < hi; j++) if (LESS(a[j], p)) { real t = a[i]; a[i] = a[j]; a[j] = t; i++; }
    { real t = a[i]; a[i] = a[hi]; a[hi] = t; }
    int j = i - 1; i++;""",
    """p = a(hi)
i = lo
do j = lo, hi - 1
if (a(j) < p) then
t = a(i)
a(i) = a(j)
a(j) = t
i = i + 1
end if
end do
t = a(i)
a(i) = a(hi)
a(hi) = t
j = i - 1
i = i + 1""",
)


def quicksort(w: FortranWriter) -> FortranPart:
    """Quicksort: Hoare's or Lomuto's partition, by two recursions, one, or a stack of its own."""
    k, how, use = w.fresh(), w.random.choice(["two", "one", "stack"]), after(w)
    split = w.random.choice([HOARE, HOARE, LOMUTO])
    head = f"""recursive subroutine quick{k}(a, first, last)
real(rk), intent(inout) :: a(*)
integer, intent(in) :: first, last
integer :: i, j, lo, hi
real(rk) :: p, t
lo = first
hi = last
"""
    if how == "two":
        c = f"static void quick{k}(real *a, int lo, int hi) {{ if (lo < hi) {{ {split.c} quick{k}(a, lo, j); quick{k}(a, i, hi); }} }}"
        f = f"{head}if (lo >= hi) return\n{split.f}\ncall quick{k}(a, lo, j)\ncall quick{k}(a, i, hi)\nend subroutine"
    elif how == "one":
        c = f"static void quick{k}(real *a, int lo, int hi) {{ while (lo < hi) {{ {split.c} quick{k}(a, lo, j); lo = i; }} }}"
        f = f"{head}do while (lo < hi)\n{split.f}\ncall quick{k}(a, lo, j)\nlo = i\nend do\nend subroutine"
    else:
        c = f"""static void quick{k}(real *a, int first, int last) {{
  int todo[{2 * ROOM + 4}], top = 0; todo[top++] = first; todo[top++] = last;
  while (top > 0) {{
    int hi = todo[--top], lo = todo[--top];
    if (lo >= hi) continue;
    {split.c}
    todo[top++] = lo; todo[top++] = j; todo[top++] = i; todo[top++] = hi;
  }}
}}"""
        f = f"""subroutine quick{k}(a, first, last)
real(rk), intent(inout) :: a(*)
integer, intent(in) :: first, last
integer :: i, j, lo, hi, top, todo(2, {ROOM + 2})
real(rk) :: p, t
top = 1
todo(:, 1) = [first, last]
do while (top > 0)
lo = todo(1, top)
hi = todo(2, top)
top = top - 1
if (lo >= hi) cycle
{split.f}
todo(:, top + 1) = [lo, j]
todo(:, top + 2) = [i, hi]
top = top + 2
end do
end subroutine"""
    return FortranPart(
        f"quicksort-{how}",
        c,
        f"quick{k}(a, 0, m - 1); {use.c}",
        procedures=f,
        declarations="integer :: i",
        fortran=f"call quick{k}(a, 1, m)\n{use.f}",
    )


def select(w: FortranWriter) -> FortranPart:
    """Quickselect: the k-th smallest number, by a function."""
    k, c, at = w.fresh(), w.constant(), w.random.choice(["m / 2", "m / 3", "m - 1"])
    return FortranPart(
        "quickselect",
        f"""static real select{k}(real *a, int m, int k) {{
  int lo = 0, hi = m - 1;
  while (lo < hi) {{
    {HOARE.c}
    if (k <= j) hi = j; else if (k >= i) lo = i; else break;
  }}
  return a[k];
}}""",
        f"{{ real v = select{k}(a, m, {at}); s += v * v; for (int i = 0; i < m; i++) a[i] = a[i] - v * {c.c}; }}",
        procedures=f"""real(rk) function select{k}(a, m, k)
integer, intent(in) :: m, k
real(rk), intent(inout) :: a(m)
integer :: i, j, lo, hi
real(rk) :: p, t
lo = 1
hi = m
do while (lo < hi)
{HOARE.f}
if (k <= j) then
hi = j
else if (k >= i) then
lo = i
else
exit
end if
end do
select{k} = a(k)
end function""",
        results=(f"select{k}",),
        declarations="real(rk) :: v",
        fortran=f"v = select{k}(a, m, {at} + 1)\ns = s + v * v\na(1:m) = a(1:m) - v * {c.f}",
    )


def argsort(w: FortranWriter) -> FortranPart:
    """Indices sorted by numbers, then a gather or a scatter by a vector subscript."""
    c = w.constant(0.5, 1.5)
    use = w.random.choice(
        [
            Pair(f"b[i] = a[at[i]] * {c.c};", f"b(1:m) = a(at(1:m)) * {c.f}"),
            Pair(f"b[at[i]] = a[i] * {c.c} + a[at[i]];", f"b(at(1:m)) = a(1:m) * {c.f} + a(at(1:m))"),
            Pair(f"b[at[i]] = a[i] * {c.c} + a[at[i]];", f"do i = 1, m\nb(at(i)) = a(i) * {c.f} + a(at(i))\nend do"),
        ]
    )
    return FortranPart(
        "argsort",
        "",
        f"""{{ int at[{ROOM}]; real b[{ROOM}];
    for (int i = 0; i < m; i++) at[i] = i;
    for (int i = 1; i < m; i++) {{ int v = at[i], j = i; while (j > 0 && LESS(a[v], a[at[j - 1]])) {{ at[j] = at[j - 1]; j--; }} at[j] = v; }}
    for (int i = 0; i < m; i++) {use.c}
    for (int i = 0; i < m; i++) {{ a[i] = b[i]; s += b[i] * (real)(i + 1); }} }}""",
        declarations=f"integer :: at({ROOM}), i, j, v\nreal(rk) :: b({ROOM})",
        fortran=f"""do i = 1, m
at(i) = i
end do
do i = 2, m
v = at(i)
j = i
do while (j > 1)
if (a(at(j - 1)) <= a(v)) exit
at(j) = at(j - 1)
j = j - 1
end do
at(j) = v
end do
{use.f}
do i = 1, m
a(i) = b(i)
s = s + b(i) * real(i, rk)
end do""",
    )
