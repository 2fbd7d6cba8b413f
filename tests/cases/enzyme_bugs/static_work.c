// A static work array: not all that a call leaves there is overwritten by the next one.
#include <math.h>

static double work[24];

void static_work(const double *x, int n, double *y) {
  for (int i = 0; i < n; i++) work[i] = sin(x[i]);
  for (int i = 1; i < n; i++)
    if (work[i] < work[i - 1]) work[i] = work[i] * work[i - 1] + 0.3;
  double s = 0;
  for (int i = 0; i < n; i++) s += work[i];
  for (int i = 0; i < n; i++) y[i] = x[i] * 0.4 + work[n - 1 - i] + s * s;
}
