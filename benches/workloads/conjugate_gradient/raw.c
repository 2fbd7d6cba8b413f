// What a user of Enzyme alone writes: the iterations are differentiated.
#include <stdlib.h>
#include <string.h>

#include "conjugate_gradient.c"

extern int enzyme_dup, enzyme_dupnoneed, enzyme_const;
void __enzyme_autodiff(void*, ...);

void gradient(const double* conductance, const int* ends, const double* b, int edges, int n, int iterations,
              const double* dx, double* dconductance, double* db) {
  double* x = malloc(n * sizeof(double));
  double* seed = malloc(n * sizeof(double));
  memcpy(seed, dx, n * sizeof(double));
  memset(dconductance, 0, edges * sizeof(double));
  memset(db, 0, n * sizeof(double));
  __enzyme_autodiff((void*)potentials, enzyme_dup, conductance, dconductance, enzyme_const, ends, enzyme_const, edges,
                    enzyme_dup, b, db, enzyme_const, n, enzyme_const, iterations, enzyme_dupnoneed, x, seed);
  free(seed);
  free(x);
}
