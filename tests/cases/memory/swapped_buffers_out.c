// Two heap buffers swapped in every time step, the last state copied to the output.
#include <stdlib.h>

void heat(const double* u0, double r, int n, int steps, double* out) {
  double* u = malloc((size_t)n * sizeof(double));
  double* v = malloc((size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) u[i] = u0[i];
  v[0] = u0[0];
  v[n - 1] = u0[n - 1];
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) v[i] = u[i] + r * u[i] * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
    double* q = u;
    u = v;
    v = q;
  }
  for (int i = 0; i < n; i++) out[i] = u[i];
  free(u);
  free(v);
}
