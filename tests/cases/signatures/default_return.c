// Defaults without a signature: the value returned is the output; the scalar by value is an input.
#include <stddef.h>

double ridge(const double* x, size_t n, double lambda) {
  double s = 0.0;
  for (size_t i = 0; i < n; i++)
    s += (x[i] - 1.0) * (x[i] - 1.0) + lambda * x[i] * x[i];
  return s;
}
