// What a user of Enzyme alone writes.
#include <stdlib.h>
#include <string.h>

#include "matvec_tanh.c"

extern int enzyme_dup, enzyme_dupnoneed, enzyme_const;
void __enzyme_autodiff(void*, ...);

void gradient(const double* A, const double* x, int m, int n, const double* dy, double* dA, double* dx) {
  double* y = malloc(m * sizeof(double));
  double* seed = malloc(m * sizeof(double));
  memcpy(seed, dy, m * sizeof(double));
  memset(dA, 0, (size_t)m * n * sizeof(double));
  memset(dx, 0, n * sizeof(double));
  __enzyme_autodiff((void*)layer, enzyme_dup, A, dA, enzyme_dup, x, dx, enzyme_const, m, enzyme_const, n, enzyme_dupnoneed,
                    y, seed);
  free(seed);
  free(y);
}
