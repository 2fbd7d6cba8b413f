"""C and C++ sources that several tests use."""

from __future__ import annotations

CUBE = "void cube(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i]; }\n"

# y = A x, and s, a number of the same A and x: two outputs, several inputs.
MATVEC = """
double matvec(const double* A, const double* x, int m, int n, double* y) {
  double s = 0;
  for (int i = 0; i < m; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++) y[i] += A[i * n + j] * x[j] * x[j];
    s += y[i] * y[i];
  }
  return s;
}
"""
MATVEC_SIGNATURE = "A[m,n], x[n] -> y[m], return"

# One step of a damped oscillator, u updated in place; k and c are numbers.
STEP = """
void step(double* u, double k, double c, double dt) {
  double a = -k * u[0] - c * u[1];
  u[0] += dt * u[1];
  u[1] += dt * a;
}
"""
STEP_SIGNATURE = "u[2], k, c, dt -> u[2]"

THROWING = """
#include <stdexcept>
extern "C" void root(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    if (x[i] < 0) throw std::domain_error("negative input");
    y[i] = x[i] * x[i];
  }
}
"""
