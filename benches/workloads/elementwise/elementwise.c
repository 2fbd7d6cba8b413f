// y = sin(x) x + exp(-x^2), element by element, in the precision REAL.
#include <tgmath.h>

#ifndef REAL
#define REAL double
#endif

void elementwise(const REAL* x, int n, REAL* y) {
  for (int i = 0; i < n; i++) y[i] = sin(x[i]) * x[i] + exp(-x[i] * x[i]);
}
