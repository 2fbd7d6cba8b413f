// Only the last outer iteration leaves the inner loop early, and ends the outer loop.
#include <math.h>
void settle(const double *x, int n, double *y) {
  for (int i = 0; i < n; i++) y[i] = x[i];
  for (int i = 20; i >= 0; i--) {
    double v = 0.5 * n;
    for (int j = 30; j >= 0; j--) {
      y[0] += 0.01 * (1.0 - v * v);
      v *= sin(y[j % n]);
      if (i == 0) break;
    }
  }
}
