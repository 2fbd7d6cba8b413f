// What a user of Enzyme alone writes.
#include <stdlib.h>
#include <string.h>

#include "deposit.c"

extern int enzyme_dup, enzyme_dupnoneed, enzyme_const;
void __enzyme_autodiff(void*, ...);

void gradient(const double* position, const double* charge, int n, int m, const double* ddensity, double* dposition,
              double* dcharge) {
  const size_t bytes = (size_t)m * m * sizeof(double);
  double* density = malloc(bytes);
  double* seed = malloc(bytes);
  memcpy(seed, ddensity, bytes);
  memset(dposition, 0, 2 * n * sizeof(double));
  memset(dcharge, 0, n * sizeof(double));
  __enzyme_autodiff((void*)deposit, enzyme_dup, position, dposition, enzyme_dup, charge, dcharge, enzyme_const, n,
                    enzyme_const, m, enzyme_dupnoneed, density, seed);
  free(seed);
  free(density);
}
