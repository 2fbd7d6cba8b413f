// The heat equation on a plate, explicit Euler steps, edges held; u is updated in place.
#include <stdlib.h>

void heat(double* u, double k, int m, int n, int steps) {
  double* next = malloc((size_t)m * n * sizeof(double));
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < m - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        const double* c = u + (size_t)i * n + j;
        next[(size_t)i * n + j] = c[0] + k * (c[-n] + c[n] + c[-1] + c[1] - 4.0 * c[0]);
      }
    for (int i = 1; i < m - 1; i++)
      for (int j = 1; j < n - 1; j++) u[(size_t)i * n + j] = next[(size_t)i * n + j];
  }
  free(next);
}
