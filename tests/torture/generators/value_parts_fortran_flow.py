# ruff: noqa: E501 (the texts of programs are what is long)
"""The parts of :mod:`value_parts_fortran` about control flow: state machines, early exits, adaptive work, masks.

Tolerances are compared as numbers near 1: the judge takes comparisons closer than 1e-7 for ties, whatever the size of what is compared.
"""

from __future__ import annotations

from torture.generators.value_parts import ROOM
from torture.generators.value_parts_fortran import FortranPart, FortranWriter


def machine(w: FortranWriter) -> FortranPart:
    """A state machine by ``select case``, by a computed goto or by an arithmetic ``if``: values decide its transitions."""
    c, how = w.constant(), w.random.choice(["select", "goto", "arithmetic"])
    rows = [(w.bounded(), w.constant(), w.constant(-0.5, 0.5), w.random.randrange(4), w.random.randrange(4)) for _ in range(3)]  # fmt: skip
    cases = "\n".join(
        f"      case {i}: v = {g.c('v * a[i]')} + {d.c}; state = LESS(a[i], {t.c}) ? {one} : {other}; break;"
        for i, (g, d, t, one, other) in enumerate(rows)
    )
    c_text = f"""{{ int state = 0; real v = {c.c};
    for (int i = 0; i < m; i++) {{
      switch (state) {{
{cases}
      default: v = v * a[i] * (real)0.7 + a[i]; state = LESS(v, a[i]) ? 1 : 0;
      }}
      a[i] = v + a[i] * (real)0.2;
    }}
    s += v; }}"""
    if how == "select":
        body = "\n".join(
            f"case ({i})\nv = {g.f('v * a(i)')} + {d.f}\nstate = merge({one}, {other}, a(i) < {t.f})"
            for i, (g, d, t, one, other) in enumerate(rows)
        )
        step = f"select case (state)\n{body}\ncase default\nv = v * a(i) * 0.7_rk + a(i)\nif (v < a(i)) then\nstate = 1\nelse\nstate = 0\nend if\nend select"
    else:
        jumps = []
        for i, (g, d, t, one, other) in enumerate(rows):
            label = 10 * (i + 1)
            branch = (
                f"state = {other}\nif (a(i) < {t.f}) state = {one}\ngoto 50"
                if how == "goto"
                else f"if (a(i) - {t.f}) {label + 1}, {label + 2}, {label + 2}\n{label + 1} state = {one}\ngoto 50\n{label + 2} state = {other}\ngoto 50"
            )
            jumps.append(f"{label} v = {g.f('v * a(i)')} + {d.f}\n{branch}")
        step = "\n".join(
            [
                "goto (10, 20, 30), state + 1",
                "v = v * a(i) * 0.7_rk + a(i)",
                "state = 0",
                "if (v < a(i)) state = 1",
                "goto 50",
                *jumps,
                "50 continue",
            ]
        )
    return FortranPart(
        f"state-{how}",
        "",
        c_text,
        declarations="integer :: state, i\nreal(rk) :: v",
        fortran=f"state = 0\nv = {c.f}\ndo i = 1, m\n{step}\na(i) = v + a(i) * 0.2_rk\nend do\ns = s + v",
        is_old=how != "select",
    )


def early(w: FortranWriter) -> FortranPart:
    """Loops that numbers end: series, searches, iterations to a tolerance; ``exit``, ``cycle``, ``goto``, ``return``."""
    k, how = w.fresh(), w.random.choice(["series", "search", "newton", "nested", "cycle", "return"])
    c, d, g = w.constant(0.2, 1.0), w.constant(0.5, 1.5), w.bounded()
    procedures, results, is_old = "", (), False
    functions = ""
    if how == "series":
        c_text = """for (int i = 0; i < m; i++) {
    real t = (real)1.0, r = (real)1.0, u = (real)0.8 * TANH(a[i]);
    for (int j = 1; j < 200; j++) { t = t * u * (real)0.9; r = r + t; if (LESS(t * t * (real)1e4, (real)1.0)) break; }
    a[i] = r * (real)0.3; s += r;
  }"""
        f_text = """do i = 1, m
t = 1.0_rk
r = 1.0_rk
u = 0.8_rk * tanh(a(i))
do j = 1, 199
t = t * u * 0.9_rk
r = r + t
if (t**2 * 1.0e4_rk < 1.0_rk) exit
end do
a(i) = r * 0.3_rk
s = s + r
end do"""
    elif how == "search":
        c_text = f"""{{ int i = 0; while (i < m && LESS(a[i], {c.c})) {{ s += a[i] * a[i]; i++; }}
    for (int j = i; j < m; j++) a[j] = a[j] * s * (real)0.3 + a[i]; }}"""
        f_text = f"""do i = 1, m
if (a(i) >= {c.f}) goto 10
s = s + a(i)**2
end do
10 do j = i, m
a(j) = a(j) * s * 0.3_rk + a(i)
end do"""
        is_old = True
    elif how == "newton":
        c_text = """for (int i = 0; i < m; i++) {
    real c = (real)1.2 + a[i] * a[i], r = (real)1.0;
    for (int j = 0; j < 50; j++) { real d = (r * r - c) / ((real)2.0 * r); r = r - d; if (LESS(d * d * (real)1e9, (real)1.0)) break; }
    a[i] = r - (real)1.0; s += r;
  }"""
        f_text = """do i = 1, m
t = 1.2_rk + a(i)**2
r = 1.0_rk
u = 1.0_rk
j = 0
do while (u**2 * 1.0e9_rk >= 1.0_rk .and. j < 50)
u = (r**2 - t) / (2.0_rk * r)
r = r - u
j = j + 1
end do
a(i) = r - 1.0_rk
s = s + r
end do"""
    elif how == "nested":
        c_text = f"""{{ int done = 0;
    for (int i = 0; i < m && !done; i++)
      for (int j = i; j < m; j++) {{
        s += a[i] * a[j] * (real)0.2;
        if (LESS({d.c}, s)) {{ done = 1; break; }}
        a[j] = {g.c("a[j] + s")};
      }} }}"""
        f_text = f"""outer: do i = 1, m
do j = i, m
s = s + a(i) * a(j) * 0.2_rk
if (s > {d.f}) exit outer
a(j) = {g.f("a(j) + s")}
end do
end do outer"""
    elif how == "cycle":
        c_text = f"""for (int i = 0; i < m; i++) {{
    if (LESS({c.c}, a[i])) continue;
    int left = 0;
    for (int j = 0; j < i; j++) {{ if (LESS(a[i], a[j])) {{ left = 1; break; }} a[i] = a[i] + a[j] * (real)0.1; }}
    if (left) continue;
    s += {g.c("a[i]")} * a[i];
  }}"""
        f_text = f"""rows: do i = 1, m
if ({c.f} < a(i)) cycle rows
do j = 1, i - 1
if (a(i) < a(j)) cycle rows
a(i) = a(i) + a(j) * 0.1_rk
end do
s = s + {g.f("a(i)")} * a(i)
end do rows"""
    else:
        functions = f"""static real gathered{k}(const real *a, int m, real limit) {{
  real r = (real)0.0;
  for (int i = 0; i < m; i++) {{ if (LESS(limit, r)) return r * a[i]; r = r + a[i] * a[i]; }}
  return {g.c("r")};
}}"""
        procedures = f"""real(rk) function gathered{k}(a, m, limit) result(r)
integer, intent(in) :: m
real(rk), intent(in) :: a(m), limit
integer :: i
r = 0.0_rk
do i = 1, m
if (r > limit) then
r = r * a(i)
return
end if
r = r + a(i)**2
end do
r = {g.f("r")}
end function"""
        results = (f"gathered{k}",)
        c_text = f"{{ real r = gathered{k}(a, m, {d.c}); s += r; for (int i = 0; i < m; i++) a[i] = a[i] * r; }}"
        f_text = f"r = gathered{k}(a, m, {d.f})\ns = s + r\na(1:m) = a(1:m) * r"
    return FortranPart(
        f"early-{how}",
        functions,
        c_text,
        procedures=procedures,
        results=results,
        declarations="integer :: i, j\nreal(rk) :: r, t, u",
        fortran=f_text,
        is_old=is_old,
    )


def intervals(w: FortranWriter) -> FortranPart:
    """Adaptive work: a stack of intervals, halved where a number is large."""
    k, c, d = w.fresh(), w.constant(), w.constant(0.8, 1.5)
    return FortranPart(
        "intervals",
        f"static real height{k}(const real *a, int m, real u) {{ real r = {c.c}; for (int i = 0; i < m; i++) r = r + SIN(a[i] * u + (real)i) * (real)0.3; return r; }}",
        f"""{{ real lo[16], hi[16], sum = (real)0.0; int top = 1, done = 0; lo[0] = (real)0.0; hi[0] = {d.c};
    while (top > 0 && done < 40) {{
      top--; done++;
      real l = lo[top], r = hi[top], mid = (l + r) * (real)0.5;
      real whole = (height{k}(a, m, l) + height{k}(a, m, r)) * (r - l) * (real)0.5;
      real fine = (height{k}(a, m, l) + (real)2.0 * height{k}(a, m, mid) + height{k}(a, m, r)) * (r - l) * (real)0.25;
      real e = whole - fine;
      if (LESS((real)1.0, e * e * (real)1e4) && top < 14) {{ lo[top] = l; hi[top] = mid; top++; lo[top] = mid; hi[top] = r; top++; }}
      else sum = sum + fine;
    }}
    s += sum; }}""",
        procedures=f"""real(rk) function height{k}(a, m, u)
integer, intent(in) :: m
real(rk), intent(in) :: a(m), u
integer :: i
height{k} = {c.f}
do i = 1, m
height{k} = height{k} + sin(a(i) * u + real(i - 1, rk)) * 0.3_rk
end do
end function""",
        results=(f"height{k}",),
        declarations="real(rk) :: ends(2, 16), l, r, mid, whole, fine, total\ninteger :: top, done",
        fortran=f"""total = 0.0_rk
top = 1
done = 0
ends(:, 1) = [0.0_rk, {d.f}]
do while (top > 0 .and. done < 40)
l = ends(1, top)
r = ends(2, top)
top = top - 1
done = done + 1
mid = (l + r) * 0.5_rk
whole = (height{k}(a, m, l) + height{k}(a, m, r)) * (r - l) * 0.5_rk
fine = (height{k}(a, m, l) + 2.0_rk * height{k}(a, m, mid) + height{k}(a, m, r)) * (r - l) * 0.25_rk
if ((whole - fine)**2 * 1.0e4_rk > 1.0_rk .and. top < 14) then
ends(:, top + 1) = [l, mid]
ends(:, top + 2) = [mid, r]
top = top + 2
else
total = total + fine
end if
end do
s = s + total""",
    )


def compact(w: FortranWriter) -> FortranPart:
    """Numbers that meet a condition, moved to the front or packed; how many there are decides what follows."""
    c, d, g, packed = w.constant(-0.5, 0.5), w.constant(), w.bounded(), w.random.random() < 0.4
    if packed:
        return FortranPart(
            "pack",
            "",
            f"""{{ int kept = 0; real b[{ROOM}];
    for (int i = 0; i < m; i++) if (LESS({c.c}, a[i])) b[kept++] = a[i];
    for (int i = 0; i < kept; i++) {{ s += b[i] * (real)(i + 1); a[i] = a[i] + {g.c("b[i]")}; }} }}""",
            declarations="real(rk), allocatable :: b(:)\ninteger :: i",
            fortran=f"""b = pack(a(1:m), a(1:m) > {c.f})
do i = 1, size(b)
s = s + b(i) * i
a(i) = a(i) + {g.f("b(i)")}
end do""",
        )
    return FortranPart(
        "compact",
        "",
        f"""{{ int kept = 0;
    for (int i = 0; i < m; i++) if (LESS({c.c}, a[i])) {{ real t = a[kept]; a[kept] = a[i]; a[i] = t; kept++; }}
    for (int i = 1; i < kept; i++) a[i] = {g.c("a[i] * a[i - 1]")} + a[i];
    for (int i = kept; i < m; i++) a[i] = a[i] * (real)0.5 + (kept > 0 ? a[kept - 1] : (real)0.3);
    if (kept > 0) s += a[kept - 1] * a[0]; else s += {d.c}; }}""",
        declarations="integer :: i, kept\nreal(rk) :: t",
        fortran=f"""kept = 0
do i = 1, m
if (a(i) <= {c.f}) cycle
kept = kept + 1
t = a(kept)
a(kept) = a(i)
a(i) = t
end do
do i = 2, kept
a(i) = {g.f("a(i) * a(i - 1)")} + a(i)
end do
t = 0.3_rk
if (kept > 0) t = a(kept)
a(kept + 1:m) = a(kept + 1:m) * 0.5_rk + t
if (kept > 0) then
s = s + a(kept) * a(1)
else
s = s + {d.f}
end if""",
    )


def masked(w: FortranWriter) -> FortranPart:
    """Array statements under a mask: ``where``, ``count``, ``any``, masked sums."""
    c, d, e, g = w.constant(-0.5, 0.5), w.constant(), w.constant(0.5, 1.5), w.bounded()
    return FortranPart(
        "masked",
        "",
        f"""{{ int kept = 0, far = 0; real sum = (real)0.0;
    for (int i = 0; i < m; i++) {{
      if (LESS(a[i], {c.c})) {{ kept++; sum = sum + a[i] * a[i]; }}
      if (LESS({e.c}, a[i])) far = 1;
    }}
    for (int i = 0; i < m; i++) if (LESS(a[i], {c.c})) a[i] = {g.c("a[i]")}; else a[i] = a[i] * {d.c} + sum * (real)0.1;
    if (far) s += sum; else s += a[0] * (real)kept; }}""",
        declarations="integer :: kept\nlogical :: mask(m), far\nreal(rk) :: total",
        fortran=f"""mask = a(1:m) < {c.f}
kept = count(mask)
total = sum(a(1:m)**2, mask=mask)
far = any(a(1:m) > {e.f})
where (mask)
a(1:m) = {g.f("a(1:m)")}
elsewhere
a(1:m) = a(1:m) * {d.f} + total * 0.1_rk
end where
if (far) then
s = s + total
else
s = s + a(1) * kept
end if""",
    )


def extremes(w: FortranWriter) -> FortranPart:
    """The largest and the least number, by intrinsic functions."""
    c, d = w.constant(), w.constant()
    return FortranPart(
        "extremes",
        "",
        f"""{{ int at = 0; real low = a[0];
    for (int i = 1; i < m; i++) {{ if (LESS(a[at], a[i])) at = i; if (LESS(a[i], low)) low = a[i]; }}
    real top = a[at];
    for (int i = 0; i < m; i++) a[i] = (a[i] - low) * {c.c} + top * {d.c};
    s += top * low * (real)(at + 1); }}""",
        declarations="integer :: at\nreal(rk) :: low, top",
        fortran=f"""at = maxloc(a(1:m), 1)
low = minval(a(1:m))
top = a(at)
a(1:m) = (a(1:m) - low) * {c.f} + top * {d.f}
s = s + top * low * real(at, rk)""",
    )
