// Nested loops: every element meets every other one.
#include <math.h>

void coupling(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    double s = 0.0;
    for (int j = 0; j < n; j++)
      s += sin(x[i] - x[j]) / (1.0 + j);
    y[i] = s;
  }
}
