/* Sums under a critical section and by atomic operations, with several threads adding to the same elements. */
#include <math.h>
double energy(const double *x, const int *owner, int n, int m, double *load) {
  double total = 0;
  for (int k = 0; k < m; k++) load[k] = 0;
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; i++) {
      double e = x[i] * sin(x[i]);
      mine += e;
#pragma omp atomic
      load[owner[i]] += e * x[i];
    }
#pragma omp critical
    total += mine;
  }
  return total;
}
