// In place, the value from before the update carried from iteration to iteration (as a careful C programmer
// would, to do without a second buffer). Enzyme is silently wrong about d/d(dt) here.
#include <stddef.h>

void diffuse(double* u, double dt, size_t n) {
  double left = u[0];
  for (size_t i = 1; i + 1 < n; i++) {
    double here = u[i];
    u[i] = here + dt * (left - 2.0 * here + u[i + 1]);
    left = here;
  }
}
