// By hand: the states are kept; backwards, each step solves the transposed system for the adjoint a, and the gradient of an entry of the
// matrix is -a[row] v[column]. The matrix is the same in every step: it is factored once.
#include <string.h>

#include "black_scholes_pde.c"

void primal(const double* payoff, const double* volatility, double rate, double dt, int n, int steps, double* v) {
  memcpy(v, payoff, n * sizeof(double));
  price(v, volatility, rate, dt, n, steps);
}

// `dv` is the cotangent of the price, `dpayoff` and `dvolatility` the gradients.
void gradient(const double* payoff, const double* volatility, double rate, double dt, int n, int steps,
              const double* dv, double* restrict dpayoff, double* restrict dvolatility) {
  double* states = malloc((size_t)(steps + 1) * n * sizeof(double));
  double *ratio = malloc(n * sizeof(double)), *lower = calloc(n, sizeof(double)), *inverse = malloc(n * sizeof(double));
  double* wider = calloc(n, sizeof(double));
  double* restrict a = dpayoff;
  memcpy(states, payoff, n * sizeof(double));
  ratio[0] = 0.0;
  inverse[0] = 1.0 / (1.0 + rate * dt);
  for (int i = 1; i < n - 1; i++) {
    const double spread = 0.5 * dt * volatility[i] * volatility[i] * i * i, drift = 0.5 * dt * rate * i;
    lower[i] = drift - spread;
    inverse[i] = 1.0 / (1.0 + rate * dt + 2.0 * spread - lower[i] * ratio[i - 1]);
    ratio[i] = (-drift - spread) * inverse[i];
  }
  for (int t = 0; t < steps; t++) {
    const double* restrict u = states + (size_t)t * n;
    double* restrict v = states + (size_t)(t + 1) * n;
    v[0] = u[0] * inverse[0];
    for (int i = 1; i < n - 1; i++) v[i] = (u[i] - lower[i] * v[i - 1]) * inverse[i];
    v[n - 1] = u[n - 1];
    for (int i = n - 2; i > 0; i--) v[i] -= ratio[i] * v[i + 1];
  }
  memcpy(a, dv, n * sizeof(double));
  for (int t = steps; t > 0; t--) {
    const double* restrict v = states + (size_t)t * n;
    for (int i = 1; i < n - 1; i++) a[i + 1] -= ratio[i] * a[i];
    for (int i = n - 2; i > 0; i--) {
      a[i] *= inverse[i];
      a[i - 1] -= lower[i] * a[i];
    }
    a[0] *= inverse[0];
    for (int i = 1; i < n - 1; i++) wider[i] -= a[i] * (2.0 * v[i] - v[i - 1] - v[i + 1]);
  }
  for (int i = 0; i < n; i++) dvolatility[i] = wider[i] * dt * volatility[i] * i * i;
  free(wider);
  free(inverse);
  free(lower);
  free(ratio);
  free(states);
}
