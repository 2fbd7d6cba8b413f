// In place: u is read and overwritten (one Gauss-Seidel sweep); the step dt is a differentiable scalar.
// libc exports a weak `step` of its own, so a name that is not bound within the artifact crashes.
#include <stddef.h>

void step(double* u, double dt, size_t n) {
  for (size_t i = 1; i + 1 < n; i++)
    u[i] += dt * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
}
