// What a user of Enzyme alone writes.
#include <stdlib.h>
#include <string.h>

#include "normalise.c"

extern int enzyme_dup, enzyme_dupnoneed, enzyme_const;
void __enzyme_autodiff(void*, ...);

void gradient(const double* x, int n, const double* dy, double* dx) {
  double* y = malloc(n * sizeof(double));
  double* seed = malloc(n * sizeof(double));
  memcpy(seed, dy, n * sizeof(double));
  memset(dx, 0, n * sizeof(double));
  __enzyme_autodiff((void*)normalise, enzyme_dup, x, dx, enzyme_const, n, enzyme_dupnoneed, y, seed);
  free(seed);
  free(y);
}
