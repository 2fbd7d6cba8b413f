/* Dynamic, guided and runtime schedules; the work grows with i, as in a triangular loop. */
#include <math.h>
void series(const double *x, long n, double *a, double *b, double *c) {
#pragma omp parallel for schedule(dynamic, 2)
  for (long i = 0; i < n; i++) {
    double term = 1, sum = 0;
    for (long k = 1; k <= i + 1; k++) {
      term *= x[i] / (double)k;
      sum += term * cos(x[i]);
    }
    a[i] = sum;
  }
#pragma omp parallel for schedule(guided)
  for (long i = 0; i < n; i += 2) b[i] = a[i] * x[n - 1 - i];
#pragma omp parallel for schedule(runtime)
  for (long i = 1; i < n; i += 2) b[i] = x[i] - a[i];
#pragma omp parallel for schedule(auto)
  for (long i = 0; i < n; i++) c[i] = b[i] * b[(i + 1) % n];
}
