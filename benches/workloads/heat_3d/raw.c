// What a user of Enzyme alone writes: u and its shadow are updated in place, so both are copies.
#include "heat_3d.c"

extern int enzyme_dup, enzyme_const;
void __enzyme_autodiff(void*, ...);

void gradient(const double* u0, double k, int l, int m, int n, int pairs, const double* du_out, double* du) {
  const size_t bytes = (size_t)l * m * n * sizeof(double);
  double* u = malloc(bytes);
  memcpy(u, u0, bytes);
  memcpy(du, du_out, bytes);
  __enzyme_autodiff((void*)heat, enzyme_dup, u, du, enzyme_const, k, enzyme_const, l, enzyme_const, m, enzyme_const, n,
                    enzyme_const, pairs);
  free(u);
}
