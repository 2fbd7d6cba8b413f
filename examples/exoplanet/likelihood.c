/* The speed of a star that a planet pulls to and fro, and how well it explains what a telescope has measured. */
#include <math.h>

/* The eccentric anomaly: the root of E - e sin E = M, by Newton's method, always the same number of steps. */
static double kepler(double mean, double e) {
  double E = mean + e * sin(mean);
  for (int i = 0; i < 8; i++) E -= (E - e * sin(E) - mean) / (1 - e * cos(E));
  return E;
}

/* log of the posterior density, up to a constant. p = {log period (days), log amplitude (m/s), a, b, phase, offset (m/s), log jitter};
 * a and b are the eccentricity's components along and across the line of sight. */
double log_posterior(const double *p, const double *t, const double *speed, const double *error, int n) {
  double period = exp(p[0]), amplitude = exp(p[1]), jitter = exp(p[6]);
  double e2 = p[2] * p[2] + p[3] * p[3];
  /* A prior that keeps the orbit an ellipse: log(1 - e^2). */
  if (e2 >= 0.999) return -1e6 * e2;
  double e = sqrt(e2 + 1e-12), omega = atan2(p[3], p[2] + 1e-9), sum = 2 * log(1 - e2);
  for (int i = 0; i < n; i++) {
    double E = kepler(2 * M_PI * t[i] / period + p[4], e);
    double truth = 2 * atan2(sqrt(1 + e) * sin(E / 2), sqrt(1 - e) * cos(E / 2));
    double model = p[5] + amplitude * (cos(truth + omega) + e * cos(omega));
    double variance = error[i] * error[i] + jitter * jitter, r = speed[i] - model;
    sum -= r * r / (2 * variance) + log(variance) / 2;
  }
  return sum - p[6] * p[6] / 8;
}

/* The model's speeds, for the plot. */
void speeds(const double *p, const double *t, int n, double *speed) {
  double e = sqrt(p[2] * p[2] + p[3] * p[3] + 1e-12), omega = atan2(p[3], p[2] + 1e-9);
  for (int i = 0; i < n; i++) {
    double E = kepler(2 * M_PI * t[i] / exp(p[0]) + p[4], e);
    double truth = 2 * atan2(sqrt(1 + e) * sin(E / 2), sqrt(1 - e) * cos(E / 2));
    speed[i] = p[5] + exp(p[1]) * (cos(truth + omega) + e * cos(omega));
  }
}
