"""Programs whose path values decide, for the tests of every front end: a gradient that is wrong at later values only.

Neighbour: ``../front_torch/test_paths.py``, which has more of them.
"""

from __future__ import annotations

import numpy as np

# Two slots; the sign selects the one that is replaced. Without `cross-iteration` the gradient is right only as long as no sign changes.
SLOTS = """\
void toggle(const double *x, int n, double *y) {
  double q[2] = {1, 2};
  int k = 0;
  for (int i = 0; i < n; i++) {
    q[k] = q[1 - k] * x[i];
    if (x[i] < 0) k = 1 - k;
    y[i] = q[0] + q[1];
  }
}
"""
SLOTS_SIGNATURE = "x[n] -> y[n]"
SLOTS_OPTIONS = {"without": ["cross-iteration"], "pipeline": "inlined"}


# The same where integers decide: `steep` has a derivative that is wrong, and only some elements, or a period, or a mode ask for it.
FLAGGED = """\
static double steep(double x) { return x * x; }
double steep_of(double x) { return steep(x); }
double steep_fwd(double x, double dx, double *dy) { *dy = 2 * x * dx; return steep(x); }
void steep_rev(double x, double *dx, double dy) { *dx += 4 * x * dy; }
static double chosen(double x, int mode) {
  switch (mode) {
    case 2: return steep_of(x);
    case 1: return x + 1;
    default: return 3 * x;
  }
}
void apply_flags(const double *x, const int *flags, int period, int mode, int n, double *y) {
  for (int i = 0; i < n; i++) {
    y[i] = chosen(x[i], mode);
    if (flags[i] == 3 || (period > 0 && i % period == 0)) y[i] += steep_of(x[i]);
  }
}
"""
FLAGGED_SIGNATURE = "x[n], flags[n], period, mode -> y[n]"
FLAGGED_OPTIONS = {"derivatives": {"steep_of": ("steep_fwd", "steep_rev")}}


# A rule that is wrong in both modes alike, which only finite differences see, and one that is right. What follows calls the wrong one where
# `x[0]` is positive or `op` is 2, and decides so through memory, pointers to functions, text, virtual functions, other functions.
_ROUTINES = """\
#include <math.h>
#include <string.h>
#ifdef __cplusplus
#include <string>
extern "C" {
#endif
double steep_of(double x) { return x * x; }
double steep_fwd(double x, double dx, double *dy) { *dy = 3 * x * dx; return x * x; }
void steep_rev(double x, double *dx, double dy) { *dx += 3 * x * dy; }
static double flat_of(double x) { return 2 * x; }
#ifdef __cplusplus
}
#endif
"""

_APPLY = """\
void apply(const double *x, int op, int n, double *y) {
  BEFORE
  for (int i = 0; i < n; i++) y[i] = sin(x[i]) + CHOSEN;
}
"""

_CHOICES = {
    "stored-flag": (
        "struct state { int is_on; }; static struct state state;",
        "state.is_on = x[0] > 0;",
        "(state.is_on ? steep_of(x[i]) : flat_of(x[i]))",
    ),
    "function-by-value": ("", "double (*of)(double) = x[0] > 0 ? steep_of : flat_of;", "of(x[i])"),
    "table-by-value": (
        "static double (*const table[])(double) = {flat_of, flat_of, steep_of, steep_of};",
        "",
        "table[(int)(x[0] + 1.5)](x[i])",
    ),
    "argument-by-value": (
        """__attribute__((noinline)) static double one_of(int kind, double x) {
  switch (kind) { case 0: return flat_of(x); case 1: return 2 * flat_of(x); case 2: return steep_of(x); }
  return x;
}""",
        "",
        "one_of(x[0] > 0 ? 2 : 0, x[i])",
    ),
    "exponent": ("", "int e; frexp(x[0], &e);", "(e >= 0 ? steep_of(x[i]) : flat_of(x[i]))"),
    "kind-by-integer": (
        "int kinds[] = {7, 7, 9};",
        "",
        "(kinds[op] == 9 ? steep_of(x[i]) : flat_of(x[i]))",
    ),
    "name-by-integer": (
        'char names[][8] = {"linear", "linear", "cubic"};',
        "",
        '(strcmp(names[op], "cubic") == 0 ? steep_of(x[i]) : flat_of(x[i]))',
    ),
    "string-by-value.cpp": (
        "",
        'std::string name = x[0] > 0 ? "cubic" : "a name that is too long for the string itself";',
        '(name == "cubic" ? steep_of(x[i]) : flat_of(x[i]))',
    ),
    "string-by-integer.cpp": (
        'const char *names[] = {"linear", "linear", "cubic"};',
        "std::string name = names[op];",
        '(name == "cubic" ? steep_of(x[i]) : flat_of(x[i]))',
    ),
    "virtual.cpp": (
        """struct shape { virtual double of(double x) const = 0; };
struct flat : shape { double of(double x) const override { return flat_of(x); } };
struct steep : shape { double of(double x) const override { return steep_of(x); } };
static flat one; static steep other;
static shape *shapes[] = {&one, &one, &other};""",
        "",
        "shapes[op]->of(x[i])",
    ),
}


def _program(name: str) -> str:
    declared, before, chosen = _CHOICES[name]
    apply = _APPLY.replace("BEFORE", before).replace("CHOSEN", chosen)
    return _ROUTINES + declared + ('\nextern "C" ' if name.endswith(".cpp") else "\n") + apply


CHOOSING = {name: _program(name) for name in _CHOICES}
CHOOSING_SIGNATURE = "x[n], op -> y[n]"

# More functions than calls by a pointer are made direct for: Enzyme has zero for the derivative, which is right of the first one alone.
MANY_FUNCTIONS = (
    "#include <math.h>\n"
    + "".join(f"static double f{i}(double x) {{ return sin({i} * x); }}\n" for i in range(30))
    + f"double (*table[])(double) = {{{', '.join(f'f{i}' for i in range(30))}}};\n"
    + _APPLY.replace("BEFORE", "").replace("CHOSEN", "table[op](x[i])")
)


def slots_by_hand(x: list[float]) -> list[float]:
    """Return the gradient of the sum of toggle's results, by forward differentiation in each direction."""
    gradient = []
    for j in range(len(x)):
        q, dq, k, total = [1.0, 2.0], [0.0, 0.0], 0, 0.0
        for i, v in enumerate(x):
            dq[k] = dq[1 - k] * v + q[1 - k] * (i == j)
            q[k] = q[1 - k] * v
            if v < 0:
                k = 1 - k
            total += dq[0] + dq[1]
        gradient.append(total)
    return gradient


def points(count: int, seed: int = 0) -> list[list[float]]:
    """Return a positive first point and others with random signs."""
    rng = np.random.default_rng(seed)
    return [[0.5] * 8] + [rng.normal(size=8).tolist() for _ in range(count)]
