// The usual mathematics: pow, exp, log, tanh, sqrt, cbrt, sin, cos, erf, fabs.
#include <math.h>

void mathematics(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    double v = x[i];
    y[i] = pow(v, 1.7) + exp(-v) * log(v) + tanh(v) * sqrt(v) + cbrt(v) * sin(v) - cos(v) * erf(v) + fabs(v - 9.0);
  }
}
