// Macros given on the command line, as a number and as an expression; without them it does not compile.
#include <math.h>

#ifndef TERMS
#error "TERMS is not defined"
#endif

void theta(const double* q, int n, double* y) {
  for (int i = 0; i < n; i++) {
    double s = 0.0;
    for (int k = 1; k <= TERMS; k++) s += DAMPING(k) * pow(q[i], k * k);
    y[i] = s;
  }
}
