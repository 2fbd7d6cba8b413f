// Branches one after another in a loop, by two numbers that they change: what merges behind them is not recomputed.
#include <math.h>

#define STEP(i) \
  if (x[i % 5] * s > t + 0.1 * i) { s = sin(s) + t; t = t * x[(i + 1) % 5]; } \
  else if (s < t) t = cos(t) * s; \
  else s = s * exp(-t);

double many_branches(const double *x, int n) {
  double s = 1.0, t = x[0];
  for (int k = 0; k < n; k++) {
    STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)
  }
  return s + t;
}
