// Heat in a rod whose conductivity 1 + u^2 grows with the temperature; explicit Euler steps, ends held, u updated in place.
#include <stdlib.h>

static double flux(double a, double b) {
  const double middle = 0.5 * (a + b);
  return (1.0 + middle * middle) * (b - a);
}

void heat(double* u, double k, int n, int steps) {
  double* next = malloc(n * sizeof(double));
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) next[i] = u[i] + k * (flux(u[i], u[i + 1]) - flux(u[i - 1], u[i]));
    for (int i = 1; i < n - 1; i++) u[i] = next[i];
  }
  free(next);
}
