#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>
#include <ffgrad/derivatives.h>
extern "C" void run(double *u, const double *c, int n, int steps) {
  double *now = 0, *old = 0; for (int k = 0; k < 2; k++) { old = now; now = (double *)std::malloc(n * sizeof(double)); for (int i = 0; i < n; i++) now[i] = (k + 1) * u[i]; }
  FFGRAD_CHECKPOINT(3);
  for (int s = 0; s < steps; s++) for (int i = 0; i < n; i++) { old[i] = 0.9 * old[i] + std::sin(now[i]); now[i] *= c[i]; }
  for (int i = 0; i < n; i++) u[i] = old[i] + now[i];
}
