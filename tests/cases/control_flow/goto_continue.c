// goto and continue: fixed-point iteration of cos(a x), restarted with damping when it is slow.
#include <math.h>

void fixed_point(const double* a, int n, double* root) {
  for (int i = 0; i < n; i++) {
    double x = 0.7, damping = 0.5;
    int k = 0;
  again:
    for (int j = 0; j < 8; j++) {
      double step = cos(a[i] * x) - x;
      if (j == 3) continue;
      x += damping * step;
    }
    if (++k < 6) {
      damping *= 1.02;
      goto again;
    }
    root[i] = x;
  }
}
