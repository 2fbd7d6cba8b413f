/* Work shared out statically, once whole and once in pieces of three. */
#include <math.h>
void waves(const double *x, double rate, int n, double *y, double *z) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) y[i] = sin(rate * x[i]) * x[i];
#pragma omp parallel for schedule(static, 3)
  for (int i = n - 1; i >= 0; i--) z[i] = exp(-x[i]) * y[n - 1 - i];
}
