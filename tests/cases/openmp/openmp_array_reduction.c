/* A histogram with soft edges: each thread has a copy of the whole array, added up at the end. */
#include <math.h>
void soft_histogram(const double *x, int n, int bins, double *counts) {
  for (int k = 0; k < bins; k++) counts[k] = 0;
#pragma omp parallel for reduction(+ : counts[ : bins]) schedule(dynamic)
  for (int i = 0; i < n; i++)
    for (int k = 0; k < bins; k++) {
      double d = x[i] - (k + 0.5) / bins;
      counts[k] += exp(-8 * d * d);
    }
}
