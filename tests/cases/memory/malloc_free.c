// malloc and free inside the function: a centred and normalised copy of the input.
#include <math.h>
#include <stdlib.h>

void standardise(const double* x, size_t n, double* y) {
  if (n == 0) return;
  double* centred = malloc(n * sizeof(double));
  double mean = 0.0, var = 0.0;
  for (size_t i = 0; i < n; i++) mean += x[i];
  mean /= (double)n;
  for (size_t i = 0; i < n; i++) {
    centred[i] = x[i] - mean;
    var += centred[i] * centred[i];
  }
  double scale = 1.0 / sqrt(var / (double)n + 1e-3);
  for (size_t i = 0; i < n; i++) y[i] = centred[i] * scale;
  free(centred);
}
