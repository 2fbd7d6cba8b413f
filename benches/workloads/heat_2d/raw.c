// What a user of Enzyme alone writes: u and its shadow are updated in place, so both are copies.
#include <string.h>

#include "heat_2d.c"

extern int enzyme_dup, enzyme_const;
void __enzyme_autodiff(void*, ...);

void gradient(const double* u0, double k, int m, int n, int steps, const double* du_out, double* du) {
  const size_t bytes = (size_t)m * n * sizeof(double);
  double* u = malloc(bytes);
  memcpy(u, u0, bytes);
  memcpy(du, du_out, bytes);
  __enzyme_autodiff((void*)heat, enzyme_dup, u, du, enzyme_const, k, enzyme_const, m, enzyme_const, n, enzyme_const,
                    steps);
  free(u);
}
