// Two heap buffers swapped by pointer in every time step, the boundary cells written once, and the
// last state read by a loss. Returned by value to Enzyme, the plain reverse mode is silently wrong from
// the second step on; stored through a pointer it happens to be right.
#include <stdlib.h>

double heat_loss(const double* u0, double r, int n, int steps) {
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
  double loss = 0.0;
  for (int i = 0; i < n; i++) loss += u[i] * u[i] * (i + 1);
  free(u);
  free(v);
  return loss;
}
