// Each iteration overwrites what an earlier one has read: forwards, backwards, and at every other element of a repeated loop.
#include <math.h>

void carry(const double *x, int n, double *y) {
  double t[20], a = 0.7;
  for (int i = 0; i < 20; i++) t[i] = 0.2 * x[i % n];
  for (int i = 2; i <= n; i++) {
    a = tanh(a + a * t[i]);
    t[i - 1] = 0.3 * a;
  }
  for (int i = n; i >= 2; i--) {
    a = sin(a * t[i] + 1.0);
    t[i + 1] = 0.5 * a;
  }
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < n; i += 2) a = tanh(a + a * t[i]);
  for (int i = 0; i < n; i++) t[i] *= a;
  for (int i = 0; i < n; i++) y[i] = t[i] + t[i + 1];
}
