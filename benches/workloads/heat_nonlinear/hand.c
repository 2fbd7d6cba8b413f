// By hand: all states are kept, then the adjoint of a step, gathered: cell i hears from the fluxes on its two sides.
#include <string.h>

#include "heat_nonlinear.c"

void primal(const double* u0, double k, int n, int steps, double* u) {
  memcpy(u, u0, n * sizeof(double));
  heat(u, k, n, steps);
}

// Derivatives of flux(a, b): with respect to a, and to b.
static double flux_a(double a, double b) {
  const double middle = 0.5 * (a + b);
  return middle * (b - a) - (1.0 + middle * middle);
}
static double flux_b(double a, double b) {
  const double middle = 0.5 * (a + b);
  return middle * (b - a) + (1.0 + middle * middle);
}

// `du_out` is the cotangent of the result, `du` and `dk` the gradients of the initial state and of k.
void gradient(const double* u0, double k, int n, int steps, const double* du_out, double* du, double* dk) {
  double* states = malloc((size_t)steps * n * sizeof(double));
  double* now = malloc(n * sizeof(double));
  double* then = malloc(n * sizeof(double));

  memcpy(states, u0, n * sizeof(double));
  for (int t = 0; t + 1 < steps; t++) {
    const double* restrict u = states + (size_t)t * n;
    double* restrict next = states + (size_t)(t + 1) * n;
    next[0] = u[0];
    next[n - 1] = u[n - 1];
    for (int i = 1; i < n - 1; i++) next[i] = u[i] + k * (flux(u[i], u[i + 1]) - flux(u[i - 1], u[i]));
  }

  // The ends take no flux: they stand as 0 beside the interior, and what reaches them is summed apart.
  double first = du_out[0], last = du_out[n - 1], sum = 0.0;
  memcpy(now, du_out, n * sizeof(double));
  now[0] = now[n - 1] = then[0] = then[n - 1] = 0.0;
  for (int t = steps - 1; t >= 0; t--) {
    const double* restrict u = states + (size_t)t * n;
    const double* restrict a = now;
    double* restrict b = then;
    first -= k * a[1] * flux_a(u[0], u[1]);
    last += k * a[n - 2] * flux_b(u[n - 2], u[n - 1]);
    for (int i = 1; i < n - 1; i++) {
      b[i] = a[i] + k * ((a[i] - a[i + 1]) * flux_a(u[i], u[i + 1]) + (a[i - 1] - a[i]) * flux_b(u[i - 1], u[i]));
      sum += a[i] * (flux(u[i], u[i + 1]) - flux(u[i - 1], u[i]));
    }
    double* swap = now;
    now = then;
    then = swap;
  }
  memcpy(du, now, n * sizeof(double));
  du[0] = first;
  du[n - 1] = last;
  *dk = sum;
  free(then);
  free(now);
  free(states);
}
