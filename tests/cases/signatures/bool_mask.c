// A boolean input, constant by itself: a masked sum of squares.
#include <stdbool.h>

double masked_energy(const double* x, const bool* mask, int n) {
  double e = 0.0;
  for (int i = 0; i < n; i++)
    if (mask[i]) e += x[i] * x[i];
  return e;
}
