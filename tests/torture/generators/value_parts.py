# ruff: noqa: E501 (the C text is what is long)
"""The algorithms that :mod:`value_programs` puts together: each as the text of functions and of a statement."""

from __future__ import annotations

import random
from dataclasses import dataclass

# A work array has this many elements at most: sizes are below.
ROOM = 24


@dataclass
class Part:
    """An algorithm: functions it needs, and a statement that changes the array ``a`` of ``m`` numbers and the sum ``s``."""

    name: str
    functions: str
    statement: str
    is_cpp: bool = False


class Writer:
    """Random choices of one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed, self.used = seed, 0

    def number(self, low: float = -1.2, high: float = 1.2) -> str:
        """A constant."""
        return f"(real){self.random.uniform(low, high):.3f}"

    def smooth(self, argument: str) -> str:
        """A smooth and bounded function of an expression."""
        name = self.random.choice(["SIN", "COS", "TANH", "ATAN", "BELL"])
        return f"{name}({argument})"

    def attribute(self) -> str:
        """Whether the compiler may inline a helper."""
        return self.random.choice(["static ", "static __attribute__((noinline)) "])

    def fresh(self) -> str:
        """A suffix for the names of one part."""
        self.used += 1
        return f"{self.seed}_{self.used}"


def slots(w: Writer) -> Part:
    """Two or three slots, and an index that numbers move."""
    count, k = w.random.choice([2, 3]), w.fresh()
    flip = f"k{k} = (k{k} + 1) % {count};" if w.random.random() < 0.5 else f"k{k} = {count - 1} - k{k};"
    return Part(
        "slots",
        "",
        f"""real q{k}[{count}]; int k{k} = 0;
  for (int i = 0; i < {count}; i++) q{k}[i] = {w.number(0.5, 1.5)} + (real)0.1 * i;
  for (int i = 0; i < m; i++) {{
    q{k}[k{k}] = {w.smooth(f"q{k}[{count - 1} - k{k}] * a[i]")} + {w.number()};
    if (LESS(a[i], {w.number(-0.5, 0.5)})) {flip}
    s += q{k}[0] * q{k}[{count - 1}];
    a[i] = a[i] + (real)0.3 * q{k}[k{k}];
  }}""",
    )


def stack(w: Writer) -> Part:
    """Push and pop by the sign of a number."""
    k, pop = w.fresh(), w.random.choice(["s += v;", "s += v * (real)top;", "s = s * (real)0.9 + v * v;"])
    return Part(
        "stack",
        "",
        f"""real st{k}[{ROOM + 1}]; int top = 1; st{k}[0] = {w.number(0.5, 1.0)};
  for (int i = 0; i < m; i++) {{
    if (LESS({w.number(-0.3, 0.3)}, a[i])) {{ st{k}[top] = {w.smooth(f"st{k}[top - 1] * a[i]")}; top++; }}
    else if (top > 1) {{ top--; real v = st{k}[top]; {pop} }}
    a[i] = a[i] * st{k}[top - 1] + {w.number()};
  }}
  for (int i = 0; i < top; i++) s += st{k}[i];""",
    )


def queue(w: Writer) -> Part:
    """A ring buffer: values decide when its head is taken."""
    k, size = w.fresh(), w.random.choice([4, 8])
    return Part(
        "queue",
        "",
        f"""real qu{k}[{size}]; int head{k} = 0, count{k} = 0;
  for (int i = 0; i < {size}; i++) qu{k}[i] = {w.number()};
  for (int i = 0; i < m; i++) {{
    if (count{k} < {size}) {{ qu{k}[(head{k} + count{k}) % {size}] = a[i] * {w.number(0.5, 1.5)}; count{k}++; }}
    while (count{k} > 0 && LESS(qu{k}[head{k}], {w.number(-0.3, 0.5)})) {{
      s += {w.smooth(f"qu{k}[head{k}]")} * a[i];
      head{k} = (head{k} + 1) % {size}; count{k}--;
    }}
    if (count{k} > 0) a[i] = a[i] + qu{k}[head{k}] * qu{k}[head{k}] * (real)0.2;
  }}""",
    )


def bins(w: Writer) -> Part:
    """A histogram with neighbouring bins."""
    k, count = w.fresh(), w.random.choice([4, 6, 9])
    return Part(
        "bins",
        "",
        f"""real bin{k}[{count + 1}];
  for (int i = 0; i <= {count}; i++) bin{k}[i] = {w.number()};
  for (int i = 0; i < m; i++) {{
    real u = (TANH(a[i]) + (real)1.0) * (real){count / 2 - 0.01:.2f};
    int b = INT(u); real f = u - (real)b;
    bin{k}[b] = bin{k}[b] * ((real)1.0 - f) + a[i] * {w.number()};
    bin{k}[b + 1] = bin{k}[b + 1] + bin{k}[b] * f;
    a[i] = {w.smooth(f"bin{k}[b]")} + a[i] * (real)0.5;
  }}
  for (int i = 0; i <= {count}; i++) s += bin{k}[i] * bin{k}[i];""",
    )


def sorting(w: Writer) -> Part:
    """One of the sorts that people write."""
    k, how = w.fresh(), w.random.choice(["insertion", "bubble", "selection", "shell", "merge", "heap"])
    start = f"{w.attribute()}void sort{k}(real *a, int m) {{"
    body = {
        "insertion": """
  for (int i = 1; i < m; i++) { real v = a[i]; int j = i; while (j > 0 && LESS(v, a[j - 1])) { a[j] = a[j - 1]; j--; } a[j] = v; }
}""",
        "bubble": """
  int swapped = 1;
  while (swapped) {
    swapped = 0;
    for (int i = 1; i < m; i++) if (LESS(a[i], a[i - 1])) { real t = a[i]; a[i] = a[i - 1]; a[i - 1] = t; swapped = 1; }
  }
}""",
        "selection": """
  for (int i = 0; i < m; i++) {
    int least = i;
    for (int j = i + 1; j < m; j++) if (LESS(a[j], a[least])) least = j;
    real t = a[i]; a[i] = a[least]; a[least] = t;
  }
}""",
        "shell": """
  for (int gap = m / 2; gap > 0; gap /= 2)
    for (int i = gap; i < m; i++) {
      real v = a[i]; int j = i;
      for (; j >= gap && LESS(v, a[j - gap]); j -= gap) a[j] = a[j - gap];
      a[j] = v;
    }
}""",
        "merge": f"""
  real b[{ROOM}];
  for (int width = 1; width < m; width *= 2) {{
    for (int lo = 0; lo < m; lo += 2 * width) {{
      int mid = MIN(lo + width, m), hi = MIN(lo + 2 * width, m), i = lo, j = mid;
      for (int o = lo; o < hi; o++) {{
        if (i < mid && (j >= hi || !LESS(a[j], a[i]))) b[o] = a[i++]; else b[o] = a[j++];
      }}
    }}
    for (int i = 0; i < m; i++) a[i] = b[i];
  }}
}}""",
        "heap": """
  for (int end = m, at = m / 2; end > 1;) {
    if (at > 0) at--; else { end--; real t = a[end]; a[end] = a[0]; a[0] = t; }
    int root = at;
    while (2 * root + 1 < end) {
      int child = 2 * root + 1;
      if (child + 1 < end && LESS(a[child], a[child + 1])) child++;
      if (!LESS(a[root], a[child])) break;
      real t = a[root]; a[root] = a[child]; a[child] = t; root = child;
    }
  }
}""",
    }[how]
    return Part(how, start + body, f"sort{k}(a, m); {after_sort(w)}")


def after_sort(w: Writer) -> str:
    """Functions of sorted numbers."""
    return w.random.choice(
        [
            "for (int i = 1; i < m; i++) a[i] = a[i] + (real)0.3 * a[i - 1] * a[i];",
            f"for (int i = 0; i < m; i++) s += a[i] * (real)(i + 1) * {w.number()};",
            "s += a[m / 2] * a[0] + a[m - 1];",
            f"for (int i = 0; i < m; i++) a[i] = {w.smooth('a[i]')} * (real)(i + 1);",
        ]
    )


def quicksort(w: Writer) -> Part:
    """Quicksort: Hoare's or Lomuto's partition, by two recursions, one, or a stack of its own."""
    k, hoare = w.fresh(), w.random.random() < 0.6
    pivot = w.random.choice(["a[(lo + hi) / 2]", "a[lo]" if hoare else "a[hi]"])
    how = w.random.choice(["two", "one", "stack"])
    if hoare:
        split = f"""int i = lo, j = hi; real p = {pivot};
    while (i <= j) {{
      while (LESS(a[i], p)) i++;
      while (LESS(p, a[j])) j--;
      if (i <= j) {{ real t = a[i]; a[i] = a[j]; a[j] = t; i++; j--; }}
    }}
    int left = j, right = i;"""
    else:
        split = """real p = a[hi]; int i = lo;
    for (int j = lo; j < hi; j++) if (LESS(a[j], p)) { real t = a[i]; a[i] = a[j]; a[j] = t; i++; }
    { real t = a[i]; a[i] = a[hi]; a[hi] = t; }
    int left = i - 1, right = i + 1;"""
    if how == "two":
        body = f"static void quick{k}(real *a, int lo, int hi) {{ if (lo < hi) {{ {split} quick{k}(a, lo, left); quick{k}(a, right, hi); }} }}"
        call = f"quick{k}(a, 0, m - 1);"
    elif how == "one":
        body = f"static void quick{k}(real *a, int lo, int hi) {{ while (lo < hi) {{ {split} quick{k}(a, lo, left); lo = right; }} }}"
        call = f"quick{k}(a, 0, m - 1);"
    else:
        body = f"""{w.attribute()}void quick{k}(real *a, int m) {{
  int todo[{2 * ROOM + 4}], top = 0; todo[top++] = 0; todo[top++] = m - 1;
  while (top > 0) {{
    int hi = todo[--top], lo = todo[--top];
    if (lo >= hi) continue;
    {split}
    todo[top++] = lo; todo[top++] = left; todo[top++] = right; todo[top++] = hi;
  }}
}}"""
        call = f"quick{k}(a, m);"
    return Part(f"quicksort-{how}", body, f"{call} {after_sort(w)}")


def select(w: Writer) -> Part:
    """Quickselect: the k-th smallest number."""
    k = w.fresh()
    at = w.random.choice(["m / 2", "m / 3", "m - 1"])
    return Part(
        "quickselect",
        f"""{w.attribute()}real select{k}(real *a, int m, int k) {{
  int lo = 0, hi = m - 1;
  while (lo < hi) {{
    real p = a[(lo + hi) / 2]; int i = lo, j = hi;
    while (i <= j) {{
      while (LESS(a[i], p)) i++;
      while (LESS(p, a[j])) j--;
      if (i <= j) {{ real t = a[i]; a[i] = a[j]; a[j] = t; i++; j--; }}
    }}
    if (k <= j) hi = j; else if (k >= i) lo = i; else break;
  }}
  return a[k];
}}""",
        f"{{ real v = select{k}(a, m, {at}); s += v * v; for (int i = 0; i < m; i++) a[i] = a[i] - v * {w.number()}; }}",
    )


def heap(w: Writer) -> Part:
    """A priority queue: values are inserted, and removed by size."""
    k = w.fresh()
    return Part(
        "priority-queue",
        f"""{w.attribute()}int put{k}(real *h, int n, real v) {{
  int i = n; h[i] = v;
  while (i > 0 && LESS(h[i], h[(i - 1) / 2])) {{ real t = h[i]; h[i] = h[(i - 1) / 2]; h[(i - 1) / 2] = t; i = (i - 1) / 2; }}
  return n + 1;
}}
{w.attribute()}int take{k}(real *h, int n, real *v) {{
  *v = h[0]; n--; h[0] = h[n]; int i = 0;
  for (;;) {{
    int c = 2 * i + 1; if (c >= n) break;
    if (c + 1 < n && LESS(h[c + 1], h[c])) c++;
    if (!LESS(h[c], h[i])) break;
    real t = h[i]; h[i] = h[c]; h[c] = t; i = c;
  }}
  return n;
}}""",
        f"""real h{k}[{2 * ROOM}], v{k}; int n{k} = 0;
  for (int i = 0; i < m; i++) {{
    n{k} = put{k}(h{k}, n{k}, a[i]);
    if (i % 3 == 2) {{ n{k} = take{k}(h{k}, n{k}, &v{k}); s += v{k} * (real)(i + 1); n{k} = put{k}(h{k}, n{k}, {w.smooth(f"v{k}")} + {w.number()}); }}
  }}
  for (int i = 0; n{k} > 0; i++) {{ n{k} = take{k}(h{k}, n{k}, &v{k}); a[i] = v{k} * v{k} + a[i] * (real)0.1; }}""",
    )


def argsort(w: Writer) -> Part:
    """Indices sorted by numbers, then a gather and a scatter."""
    use = w.random.choice(["b[i] = a[at[i]] * {};", "b[at[i]] = a[i] * {} + a[at[i]];"]).format(w.number(0.5, 1.5))
    return Part(
        "argsort",
        "",
        f"""{{ int at[{ROOM}]; real b[{ROOM}];
    for (int i = 0; i < m; i++) at[i] = i;
    for (int i = 1; i < m; i++) {{ int v = at[i], j = i; while (j > 0 && LESS(a[v], a[at[j - 1]])) {{ at[j] = at[j - 1]; j--; }} at[j] = v; }}
    for (int i = 0; i < m; i++) {use}
    for (int i = 0; i < m; i++) {{ a[i] = b[i]; s += b[i] * (real)(i + 1); }} }}""",
    )


def linked(w: Writer) -> Part:
    """A list by index, kept sorted; then followed."""
    return Part(
        "list",
        "",
        f"""{{ int next[{ROOM + 1}]; int first = -1; real sum = {w.number()};
    for (int i = 0; i < m; i++) {{
      int before = -1, at = first;
      while (at >= 0 && LESS(a[at], a[i])) {{ before = at; at = next[at]; }}
      next[i] = at; if (before < 0) first = i; else next[before] = i;
    }}
    for (int at = first; at >= 0; at = next[at]) {{ sum = {w.smooth("sum * a[at]")} + a[at]; a[at] = sum * (real)0.5; }}
    s += sum; }}""",
    )


def machine(w: Writer) -> Part:
    """A state machine: values decide its transitions."""
    cases = "\n".join(
        f"      case {c}: v = {w.smooth('v * a[i]')} + {w.number()}; state = LESS(a[i], {w.number(-0.5, 0.5)}) ? {w.random.randrange(4)} : {w.random.randrange(4)}; break;"
        for c in range(3)
    )
    return Part(
        "state-machine",
        "",
        f"""{{ int state = 0; real v = {w.number()};
    for (int i = 0; i < m; i++) {{
      switch (state) {{
{cases}
      default: v = v * a[i] * (real)0.7 + a[i]; state = LESS(v, a[i]) ? 1 : 0;
      }}
      a[i] = v + a[i] * (real)0.2;
    }}
    s += v; }}""",
    )


def early(w: Writer) -> Part:
    """Loops that numbers end: series, searches, iterations to a tolerance."""
    how = w.random.choice(["series", "search", "newton", "nested"])
    text = {
        "series": """for (int i = 0; i < m; i++) {
    real t = (real)1.0, r = (real)1.0, u = (real)0.8 * TANH(a[i]);
    for (int j = 1; j < 200; j++) { t = t * u * (real)0.9; r = r + t; if (LESS(t * t, (real)1e-4)) break; }
    a[i] = r * (real)0.3; s += r;
  }""",
        "search": f"""{{ int i = 0; while (i < m && LESS(a[i], {w.number(0.2, 1.0)})) {{ s += a[i] * a[i]; i++; }}
    for (int j = i; j < m; j++) a[j] = a[j] * s * (real)0.3 + a[i]; }}""",
        "newton": """for (int i = 0; i < m; i++) {
    real c = (real)1.2 + a[i] * a[i], r = (real)1.0;
    for (int j = 0; j < 50; j++) { real d = (r * r - c) / ((real)2.0 * r); r = r - d; if (LESS(d * d, (real)1e-9)) break; }
    a[i] = r - (real)1.0; s += r;
  }""",
        "nested": f"""{{ int done = 0;
    for (int i = 0; i < m && !done; i++)
      for (int j = i; j < m; j++) {{
        s += a[i] * a[j] * (real)0.2;
        if (LESS({w.number(0.5, 1.5)}, s)) {{ done = 1; break; }}
        a[j] = {w.smooth("a[j] + s")};
      }} }}""",
    }[how]
    return Part(f"early-{how}", "", text)


def intervals(w: Writer) -> Part:
    """Adaptive work: an explicit stack of intervals, halved where a number is large."""
    k = w.fresh()
    return Part(
        "intervals",
        f"{w.attribute()}real height{k}(const real *a, int m, real u) {{ real r = {w.number()}; for (int i = 0; i < m; i++) r = r + SIN(a[i] * u + (real)i) * (real)0.3; return r; }}",
        f"""{{ real lo[16], hi[16], sum = (real)0.0; int top = 1, done = 0; lo[0] = (real)0.0; hi[0] = {w.number(0.8, 1.5)};
    while (top > 0 && done < 40) {{
      top--; done++;
      real l = lo[top], r = hi[top], mid = (l + r) * (real)0.5;
      real whole = (height{k}(a, m, l) + height{k}(a, m, r)) * (r - l) * (real)0.5;
      real fine = (height{k}(a, m, l) + (real)2.0 * height{k}(a, m, mid) + height{k}(a, m, r)) * (r - l) * (real)0.25;
      real e = whole - fine;
      if (LESS((real)1e-4, e * e) && top < 14) {{ lo[top] = l; hi[top] = mid; top++; lo[top] = mid; hi[top] = r; top++; }}
      else sum = sum + fine;
    }}
    s += sum; }}""",
    )


def memo(w: Writer) -> Part:
    """A memo of the last argument, in a static or on the stack."""
    k, where = w.fresh(), w.random.choice(["static ", ""])
    return Part(
        "memo",
        f"""typedef struct {{ int have; real x, y; }} Memo{k};
{w.attribute()}real known{k}(Memo{k} *memo, real x) {{
  if (memo->have && !LESS(x, memo->x) && !LESS(memo->x, x)) return memo->y;
  memo->have = 1; memo->x = x; memo->y = {w.smooth("x * x")} + x;
  return memo->y;
}}""",
        f"""{{ {where}Memo{k} memo; memo.have = 0; memo.x = (real)0.0; memo.y = (real)0.0;
    for (int i = 0; i < m; i++) {{ real v = known{k}(&memo, a[i]); if (i % 2) v = v + known{k}(&memo, a[i]); a[i] = v * (real)0.6; s += v; }} }}""",
    )


def scratch(w: Writer) -> Part:
    """A static work array, filled and read in every call."""
    k = w.fresh()
    return Part(
        "static-work",
        f"static real work{k}[{ROOM}];",
        f"""for (int i = 0; i < m; i++) work{k}[i] = {w.smooth("a[i]")};
  for (int i = 1; i < m; i++) if (LESS(work{k}[i], work{k}[i - 1])) work{k}[i] = work{k}[i] * work{k}[i - 1] + {w.number()};
  for (int i = 0; i < m; i++) {{ a[i] = a[i] * (real)0.4 + work{k}[m - 1 - i]; s += work{k}[i]; }}""",
    )


def callback(w: Writer) -> Part:
    """A solver that calls a function through a pointer; its parameter is in a global."""
    k = w.fresh()
    return Part(
        "callback",
        f"""static real given{k};
static real residual{k}(real u) {{ return u * u * u + u - given{k}; }}
{w.attribute()}real bisect{k}(real (*f)(real), real lo, real hi) {{
  for (int i = 0; i < 6; i++) {{ real mid = (lo + hi) * (real)0.5; if (LESS(f(mid), (real)0.0)) lo = mid; else hi = mid; }}
  real u = (lo + hi) * (real)0.5;
  for (int i = 0; i < 4; i++) u = u - f(u) / ((real)3.0 * u * u + (real)1.0);
  return u;
}}""",
        f"for (int i = 0; i < m; i++) {{ given{k} = a[i] * {w.number(0.5, 1.5)}; real u = bisect{k}(residual{k}, (real)-3.0, (real)3.0); s += u; a[i] = u * a[i]; }}",
    )


def table(w: Writer) -> Part:
    """A lookup with interpolation, in a table of constants or of computed values."""
    k, made = w.fresh(), w.random.random() < 0.5
    constants = ", ".join(f"{w.random.uniform(-1, 1):.3f}" for _ in range(9))
    functions = "" if made else f"static const double table{k}[9] = {{{constants}}};"
    fill = f"real table{k}[9]; for (int i = 0; i < 9; i++) table{k}[i] = SIN(a[i % m] + (real)i);" if made else ""
    return Part(
        "table",
        functions,
        f"""{{ {fill}
    for (int i = 0; i < m; i++) {{
      real u = (TANH(a[i]) + (real)1.0) * (real)3.99; int b = INT(u); real f = u - (real)b;
      real v = (real)table{k}[b] * ((real)1.0 - f) + (real)table{k}[b + 1] * f;
      a[i] = v + a[i] * (real)0.5; s += v * a[i];
    }} }}""",
    )


def mixed(w: Writer) -> Part:
    """A struct of a pointer to constants beside one to work memory."""
    k = w.fresh()
    constants = ", ".join(f"{w.random.uniform(0.2, 1):.3f}" for _ in range(4))
    return Part(
        "mixed-struct",
        f"""typedef struct {{ const double *k; real *w; int n; }} Mixed{k};
static const double rates{k}[4] = {{{constants}}};
static __attribute__((noinline)) void phase{k}(real e, Mixed{k} *d) {{
  for (int j = 0; j < d->n; j++) {{ d->w[j] = COS((real)d->k[j] * e); if (LESS(d->w[j], (real)0.0)) d->w[j] = d->w[j] * e; }}
}}""",
        f"""{{ Mixed{k} d; d.k = rates{k}; d.n = 4; d.w = (real *)malloc(4 * sizeof(real));
    for (int i = 0; i < m; i++) {{ phase{k}(a[i], &d); for (int j = 0; j < 4; j++) s += d.w[j]; a[i] = a[i] + d.w[i % 4]; }}
    free(d.w); }}""",
    )


def compact(w: Writer) -> Part:
    """Numbers that meet a condition are moved to the front; how many there are decides what follows."""
    return Part(
        "compact",
        "",
        f"""{{ int kept = 0;
    for (int i = 0; i < m; i++) if (LESS({w.number(-0.5, 0.5)}, a[i])) {{ real t = a[kept]; a[kept] = a[i]; a[i] = t; kept++; }}
    for (int i = 1; i < kept; i++) a[i] = {w.smooth("a[i] * a[i - 1]")} + a[i];
    for (int i = kept; i < m; i++) a[i] = a[i] * (real)0.5 + (kept > 0 ? a[kept - 1] : (real)0.3);
    s += kept > 0 ? a[kept - 1] * a[0] : {w.number()}; }}""",
    )


def window(w: Writer) -> Part:
    """The largest number of a sliding window, by a queue of indices."""
    width = w.random.choice([2, 3])
    return Part(
        "window",
        "",
        f"""{{ int at[{ROOM}], head = 0, tail = 0; real b[{ROOM}];
    for (int i = 0; i < m; i++) {{
      while (tail > head && LESS(a[at[tail - 1]], a[i])) tail--;
      at[tail++] = i;
      if (at[head] <= i - {width}) head++;
      b[i] = a[at[head]] * a[i];
    }}
    for (int i = 0; i < m; i++) {{ s += b[i]; a[i] = {w.smooth("b[i]")}; }} }}""",
    )
