/* Steps of one of two methods, as LSODA's: an explicit one while the problem is not stiff, a linearly implicit one while it is.
 *
 * Source: Bogacki and Shampine, "A 3(2) pair of Runge-Kutta formulas" (1989); Shampine and Reichelt, "The MATLAB ODE Suite" (1997),
 * for the Rosenbrock formula.
 */
#include "stepper.h"
#include <ffgrad/derivatives.h>
#include <math.h>

/* Solves a x = b in place; a is n by n, row by row. */
static void solve(int n, double *a, double *b) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) {
      double f = a[i * n + k] / a[k * n + k];
      for (int j = k + 1; j < n; j++) a[i * n + j] -= f * a[k * n + j];
      b[i] -= f * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
}

/* One explicit step: the new state, the estimated error, and how stiff the problem seems: |df| / |dy| between two stages. */
static double explicit_step(rates *f, const double *p, int n, double t, double h, const double *y, double *next,
                            double *error) {
  double k1[MOST_STATES], k2[MOST_STATES], k3[MOST_STATES], k4[MOST_STATES], at[MOST_STATES], before[MOST_STATES];
  f(t, y, k1, p);
  for (int i = 0; i < n; i++) at[i] = y[i] + 0.5 * h * k1[i];
  f(t + 0.5 * h, at, k2, p);
  for (int i = 0; i < n; i++) before[i] = y[i] + 0.75 * h * k2[i];
  f(t + 0.75 * h, before, k3, p);
  for (int i = 0; i < n; i++) next[i] = y[i] + h * (2.0 / 9 * k1[i] + 1.0 / 3 * k2[i] + 4.0 / 9 * k3[i]);
  f(t + h, next, k4, p);
  double change = 0, distance = 0;
  for (int i = 0; i < n; i++) {
    error[i] = h * (-5.0 / 72 * k1[i] + 1.0 / 12 * k2[i] + 1.0 / 9 * k3[i] - 1.0 / 8 * k4[i]);
    change += (k4[i] - k3[i]) * (k4[i] - k3[i]);
    distance += (next[i] - before[i]) * (next[i] - before[i]);
  }
  return distance > 0 ? sqrt(change / distance) : 0;
}

/* One linearly implicit step, with the Jacobian by differences. */
static double implicit_step(rates *f, const double *p, int n, double t, double h, const double *y, const double *scale,
                            double *next, double *error) {
  const double d = 1 / (2 + sqrt(2.0)), e = 6 + sqrt(2.0);
  double f0[MOST_STATES], f1[MOST_STATES], f2[MOST_STATES], k1[MOST_STATES], k2[MOST_STATES], k3[MOST_STATES];
  double up[MOST_STATES], down[MOST_STATES], at[MOST_STATES];
  double jacobian[MOST_STATES * MOST_STATES], w[MOST_STATES * MOST_STATES], norm = 0;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) at[i] = y[i];
    double step = 1e-4 * (fabs(y[j]) + scale[j]);
    at[j] = y[j] + step;
    f(t, at, up, p);
    at[j] = y[j] - step;
    f(t, at, down, p);
    for (int i = 0; i < n; i++) {
      jacobian[i * n + j] = (up[i] - down[i]) / (2 * step);
      double seen = jacobian[i * n + j] * scale[j] / scale[i];
      norm += seen * seen;
    }
  }
  f(t, y, f0, p);
  for (int i = 0; i < n * n; i++) w[i] = (i % (n + 1) == 0) - h * d * jacobian[i];
  for (int i = 0; i < n; i++) k1[i] = f0[i];
  solve(n, w, k1);
  for (int i = 0; i < n; i++) at[i] = y[i] + 0.5 * h * k1[i];
  f(t + 0.5 * h, at, f1, p);
  for (int i = 0; i < n * n; i++) w[i] = (i % (n + 1) == 0) - h * d * jacobian[i];
  for (int i = 0; i < n; i++) k2[i] = f1[i] - k1[i];
  solve(n, w, k2);
  for (int i = 0; i < n; i++) k2[i] += k1[i], next[i] = y[i] + h * k2[i];
  f(t + h, next, f2, p);
  for (int i = 0; i < n * n; i++) w[i] = (i % (n + 1) == 0) - h * d * jacobian[i];
  for (int i = 0; i < n; i++) k3[i] = f2[i] - e * (k2[i] - f1[i]) - 2 * (k1[i] - f0[i]);
  solve(n, w, k3);
  for (int i = 0; i < n; i++) error[i] = h / 6 * (k1[i] - 2 * k2[i] + k3[i]);
  return sqrt(norm);
}

/* The next step after one of length h with an error of this size. What is differentiated is the solution that these steps give: a
 * step's own derivative would add nothing but the noise of error estimates, which grows from step to step. */
double next_step(double h, double size) { return h * fmin(4, fmax(0.2, 0.9 * cbrt(1 / fmax(size, 1e-4)))); }
FFGRAD_INACTIVE(next_step);

int integrate(rates *f, const double *p, int n, double t, double end, double *y, double accuracy, const double *scale) {
  double next[MOST_STATES], error[MOST_STATES], h = 0.01 * (end - t);
  int is_stiff = 0, count = 0;
  while (t < end) {
    if (++count > 100000) return -1;
    if (t + h > end) h = end - t;
    double stiffness = is_stiff ? implicit_step(f, p, n, t, h, y, scale, next, error)
                                : explicit_step(f, p, n, t, h, y, next, error);
    double size = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(error[i]) / (accuracy * (fabs(y[i]) + scale[i])));
    if (size <= 1) {
      t += h;
      for (int i = 0; i < n; i++) y[i] = next[i];
      /* Where stability limits the explicit method's steps, the other one is cheaper. */
      is_stiff = is_stiff ? h * stiffness > 0.5 : h * stiffness > 2;
    }
    h = next_step(h, size);
  }
  return count;
}
