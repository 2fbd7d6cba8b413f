// The same time loop with the step copied back instead of swapped: right with the first pipeline.
#include <stdlib.h>

void heat(const double* u0, double r, int n, int steps, double* out) {
  double* v = malloc((size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) out[i] = u0[i];
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) v[i] = out[i] + r * out[i] * (out[i - 1] - 2.0 * out[i] + out[i + 1]);
    for (int i = 1; i < n - 1; i++) out[i] = v[i];
  }
  free(v);
}
