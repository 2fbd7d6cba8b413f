// By hand: the adjoint of a step, gathered. The step is linear in u, so no state is kept; k has no gradient.
#include <string.h>

#include "heat_2d.c"

void primal(const double* u0, double k, int m, int n, int steps, double* u) {
  memcpy(u, u0, (size_t)m * n * sizeof(double));
  heat(u, k, m, n, steps);
}

// `du_out` is the cotangent of the result, `du` the gradient of the initial state.
void gradient(const double* u0, double k, int m, int n, int steps, const double* du_out, double* du) {
  (void)u0;
  const size_t size = (size_t)m * n;
  // The interior, in two arrays whose edges stay 0: edges pass nothing on, they only receive, which is added to `du`.
  double* now = calloc(size, sizeof(double));
  double* then = calloc(size, sizeof(double));
  memcpy(du, du_out, size * sizeof(double));
  for (int i = 1; i < m - 1; i++) memcpy(now + (size_t)i * n + 1, du_out + (size_t)i * n + 1, (n - 2) * sizeof(double));
  for (int t = 0; t < steps; t++) {
    for (int j = 1; j < n - 1; j++) {
      du[j] += k * now[n + j];
      du[size - n + j] += k * now[size - 2 * n + j];
    }
    for (int i = 1; i < m - 1; i++) {
      const double* restrict a = now + (size_t)i * n;
      double* restrict b = then + (size_t)i * n;
      du[(size_t)i * n] += k * a[1];
      du[(size_t)i * n + n - 1] += k * a[n - 2];
      for (int j = 1; j < n - 1; j++) b[j] = a[j] + k * (a[j - n] + a[j + n] + a[j - 1] + a[j + 1] - 4.0 * a[j]);
    }
    double* swap = now;
    now = then;
    then = swap;
  }
  for (int i = 1; i < m - 1; i++) memcpy(du + (size_t)i * n + 1, now + (size_t)i * n + 1, (n - 2) * sizeof(double));
  free(then);
  free(now);
}
