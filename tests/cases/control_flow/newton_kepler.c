// Newton's method to convergence: the eccentric anomaly of Kepler's equation.
#include <math.h>

void kepler(const double* mean_anomaly, double e, int n, double* E) {
  for (int i = 0; i < n; i++) {
    double x = mean_anomaly[i];
    for (int k = 0; k < 50; k++) {
      double dx = (x - e * sin(x) - mean_anomaly[i]) / (1.0 - e * cos(x));
      x -= dx;
      if (fabs(dx) < 1e-14) break;
    }
    E[i] = x;
  }
}
