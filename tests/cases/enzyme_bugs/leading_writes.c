// Each iteration writes what the next one reads, next to an inner loop; later iterations overwrite what was read.
#include <math.h>

void march(const double *x, int n, double *y) {
  double t[16], b = 0.4;
  for (int i = 0; i < 16; i++) t[i] = 0.2 * x[i % n];
  for (int i = 0; i < 5; i++) {
    for (int k = n - 1; k >= 0; k--) b = sin(b * b + x[k]);
    t[i + 1] = tanh(t[i] * x[i] * 2.0 + b);
  }
  for (int i = 0; i < n; i += 3) t[i + 1] *= 0.8;
  for (int i = 0; i < n; i++) y[i] = x[i] + t[i] * b;
  for (int i = 0; i + 1 < n; i++) {
    for (int k = 0; k < n; k++) b = sin(b * b + x[k]);
    y[i + 1] = tanh(y[i] * x[i] * b);
  }
}
