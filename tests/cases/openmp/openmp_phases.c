/* One team for all time steps: loops with their barriers, a single, a master, and sizes that differ. */
#include <math.h>
#include <stdlib.h>
void march(double *u, double dt, int n, int steps) {
  double *v = malloc(n * sizeof *v), *flux = malloc((n + 1) * sizeof *flux), mean = 0;
#pragma omp parallel
  for (int k = 0; k < steps; k++) {
#pragma omp for
    for (int i = 0; i <= n; i++) {
      double left = i > 0 ? u[i - 1] : 0, right = i < n ? u[i] : 0;
      flux[i] = (right - left) * (1 + 0.1 * left * right);
    }
#pragma omp single
    {
      mean = 0;
      for (int i = 0; i < n; i++) mean += u[i] / n;
    }
#pragma omp for schedule(static, 2)
    for (int i = 0; i < n; i++) v[i] = u[i] + dt * (flux[i + 1] - flux[i]) * mean;
#pragma omp master
    v[0] += 0.01 * sin(mean);
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < n; i++) u[i] = v[i];
  }
  free(v);
  free(flux);
}
