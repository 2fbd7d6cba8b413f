// The heat equation on a rod, explicit Euler steps, ends held; u is updated in place.
#include <stdlib.h>

void heat(double* u, double k, int n, int steps) {
  double* next = malloc(n * sizeof(double));
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) next[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
    for (int i = 1; i < n - 1; i++) u[i] = next[i];
  }
  free(next);
}
