// An ODE integrator: classical Runge-Kutta for predator and prey, a pointer to the right-hand side.
typedef void (*rhs)(const double* y, const double* p, double* dy);

static void lotka_volterra(const double* y, const double* p, double* dy) {
  dy[0] = p[0] * y[0] - p[1] * y[0] * y[1];
  dy[1] = p[2] * y[0] * y[1] - p[3] * y[1];
}

static void rk4(rhs f, double* y, const double* p, double h) {
  double k1[2], k2[2], k3[2], k4[2], t[2];
  f(y, p, k1);
  for (int i = 0; i < 2; i++) t[i] = y[i] + 0.5 * h * k1[i];
  f(t, p, k2);
  for (int i = 0; i < 2; i++) t[i] = y[i] + 0.5 * h * k2[i];
  f(t, p, k3);
  for (int i = 0; i < 2; i++) t[i] = y[i] + h * k3[i];
  f(t, p, k4);
  for (int i = 0; i < 2; i++) y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
}

// trajectory: the state after each step.
void integrate(const double* y0, const double* p, double h, int steps, double* trajectory) {
  double y[2] = {y0[0], y0[1]};
  for (int s = 0; s < steps; s++) {
    rk4(lotka_volterra, y, p, h);
    trajectory[2 * s] = y[0];
    trajectory[2 * s + 1] = y[1];
  }
}
