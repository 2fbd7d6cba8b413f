// realloc: a buffer that doubles while partial sums are appended to it.
#include <stdlib.h>

double smooth_growth(const double* x, int n) {
  int capacity = 2, used = 0;
  double* sums = malloc((size_t)capacity * sizeof(double));
  double running = 0.0;
  for (int i = 0; i < n; i++) {
    running += x[i];
    if (used == capacity) {
      capacity *= 2;
      sums = realloc(sums, (size_t)capacity * sizeof(double));
    }
    sums[used++] = running;
  }
  double energy = 0.0;
  for (int i = 0; i < used; i++) energy += sums[i] * sums[i];
  free(sums);
  return energy;
}
