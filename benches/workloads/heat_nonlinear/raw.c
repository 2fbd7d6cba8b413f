// What a user of Enzyme alone writes: u and its shadow are updated in place, so both are copies.
#include <string.h>

#include "heat_nonlinear.c"

extern int enzyme_dup, enzyme_out, enzyme_const;
double __enzyme_autodiff(void*, ...);

void gradient(const double* u0, double k, int n, int steps, const double* du_out, double* du, double* dk) {
  double* u = malloc(n * sizeof(double));
  memcpy(u, u0, n * sizeof(double));
  memcpy(du, du_out, n * sizeof(double));
  *dk = __enzyme_autodiff((void*)heat, enzyme_dup, u, du, enzyme_out, k, enzyme_const, n, enzyme_const, steps);
  free(u);
}
