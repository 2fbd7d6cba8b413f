// An entry of a table is loaded, a call replaces it, and it is loaded again through the same address.
#include <math.h>

__attribute__((noinline)) static void relax(double *level, int m) {
  for (int i = 0; i < m; i += 2) level[2] = 2.5;
}

void response(const double *x, double bias, int n, double *y) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i];
  double level[7];
  for (int i = 0; i < 7; i++) level[i] = 1.0;
  if (level[n % 7] != 0.0) {
    relax(level, 7);
    y[0] -= tanh(level[n % 7] * bias);
  }
}
