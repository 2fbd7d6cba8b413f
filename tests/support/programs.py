"""C sources that more than one test file uses, each a few lines; the conformance table has the real programs."""

CUBE = """\
void cube(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i];
}
"""

# Two inputs, two outputs.
PAIR = """\
#include <math.h>
void pair(const double* a, const double* b, int n, double* product, double* mixed) {
  for (int i = 0; i < n; i++) {
    product[i] = a[i] * b[i];
    mixed[i] = a[i] * a[i] + sin(b[i]);
  }
}
"""
PAIR_SIGNATURE = "a[n], b[n] -> product[n], mixed[n]"

# y = amplitude * exp(-rate * t): scalars by value, with gradients.
DECAY = """\
#include <math.h>
void decay(const double* t, double amplitude, double rate, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = amplitude * exp(-rate * t[i]);
}
"""
DECAY_SIGNATURE = "const t[n], amplitude, rate -> y[n]"

# An array updated in place, a shared matrix, scratch memory and a scalar by value.
STEP = """\
#include <math.h>
void step(double* u, const double* A, double dt, int n, double* work, double* energy) {
  for (int i = 0; i < n; i++) {
    work[i] = 0;
    for (int j = 0; j < n; j++) work[i] += A[i * n + j] * sin(u[j]);
  }
  *energy = 0;
  for (int i = 0; i < n; i++) {
    u[i] += dt * work[i];
    *energy += u[i] * u[i];
  }
}
"""
STEP_SIGNATURE = "u[n], A[n,n], dt -> u[n], energy; work[n]"

THROWS = """\
#include <stdexcept>
extern "C" void positive(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    if (x[i] < 0) throw std::runtime_error("negative");
    y[i] = x[i] * x[i];
  }
}
"""

# A recursion whose derivative takes several times the stack; `depth` frames for each element.
RECURSION = """
#include <math.h>
__attribute__((noinline)) static double deeper(double x, double depth, double *large) {
  if (depth < 1) return x;
  double s = sin(x);
  if (s > 0.99) *large += s;
  double v = deeper(0.9 * x + 0.05 * s, depth - 1, large);
  return 0.9 * v + s * x;
}
void recurse(const double *x, int n, double depth, double *y) {
  for (int i = 0; i < n; i++) {
    double large = 0;
    y[i] = deeper(x[i], depth, &large) + large;
  }
}
"""
