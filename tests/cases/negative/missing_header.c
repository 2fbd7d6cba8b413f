// Includes a header that is not there: include_dirs is what is missing.
#include "nowhere/parameters.h"

void scale(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = FACTOR * x[i];
}
