"""C and C++ sources that several tests use."""

from __future__ import annotations

CUBE = "void cube(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i]; }\n"

# Two inputs that meet, so that second derivatives are mixed; an integer, and a number that counts.
SCALED = """
#include <math.h>
void scaled(const double* x, const double* w, double a, int power, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = a * pow(x[i], power) * w[i] * w[i];
}
"""
SCALED_SIGNATURE = "x[n], w[n], a, power -> y[n]"

# An explicit step of a decaying oscillation, u updated in place.
STEP = """
void step(double* u, double k, double dt) {
  double a = -k * u[0] - 0.1 * u[1] * u[1];
  u[0] += dt * u[1];
  u[1] += dt * a;
}
"""
STEP_SIGNATURE = "u[2], k, dt -> u[2]"

THROWING = """
#include <stdexcept>
extern "C" void root(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    if (x[i] < 0) throw std::domain_error("negative input");
    y[i] = x[i] * x[i];
  }
}
"""
