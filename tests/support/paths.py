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
