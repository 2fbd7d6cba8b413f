// The price of an option by the Black-Scholes equation backwards in time, implicit Euler steps on a grid of prices S = i h, with a
// volatility for each price; v is the payoff, then the price today. A step solves a tridiagonal system (Thomas).
#include <stdlib.h>

static void step(const double* volatility, double rate, double dt, int n, double* ratio, double* v) {
  ratio[0] = 0.0;
  v[0] /= 1.0 + rate * dt;
  for (int i = 1; i < n - 1; i++) {
    const double spread = 0.5 * dt * volatility[i] * volatility[i] * i * i, drift = 0.5 * dt * rate * i;
    const double lower = drift - spread, upper = -drift - spread;
    const double pivot = 1.0 + rate * dt + 2.0 * spread - lower * ratio[i - 1];
    ratio[i] = upper / pivot;
    v[i] = (v[i] - lower * v[i - 1]) / pivot;
  }
  for (int i = n - 2; i > 0; i--) v[i] -= ratio[i] * v[i + 1];
}

void price(double* v, const double* volatility, double rate, double dt, int n, int steps) {
  double* ratio = malloc(n * sizeof(double));
  for (int t = 0; t < steps; t++) step(volatility, rate, dt, n, ratio, v);
  free(ratio);
}
