// One step of a loop (option `repeat`): u is carried from step to step, q has a row for each, k is shared by all.
#include <math.h>

void step(double* u, const double* k, const double* q, double* energy, int n) {
  double before = u[0];
  for (int i = 1; i + 1 < n; i++) {
    double here = u[i];
    u[i] = here + k[i] * (before - 2.0 * here + u[i + 1]) + 0.1 * sin(here) * q[i];
    before = here;
  }
  *energy = 0;
  for (int i = 0; i < n; i++) *energy += u[i] * u[i];
}
