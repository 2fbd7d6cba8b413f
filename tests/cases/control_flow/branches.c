// Branches, fmin and fmax, nested conditions; inputs are chosen away from the kinks.
#include <math.h>

static double huber(double r) {
  double a = fabs(r);
  return a < 1.0 ? 0.5 * r * r : a - 0.5;
}

void losses(const double* x, const double* y, int n, double* loss) {
  for (int i = 0; i < n; i++) {
    double r = x[i] - y[i];
    if (r > 0.0)
      loss[i] = huber(r) + fmin(x[i], 2.5 * y[i]);
    else
      loss[i] = fmax(x[i] * x[i], y[i]) - huber(r);
  }
}
