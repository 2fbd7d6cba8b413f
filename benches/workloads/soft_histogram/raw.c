// What a user of Enzyme alone writes.
#include <stdlib.h>
#include <string.h>

#include "soft_histogram.c"

extern int enzyme_dup, enzyme_out, enzyme_dupnoneed, enzyme_const;
double __enzyme_autodiff(void*, ...);

void gradient(const double* x, double width, int n, int bins, const double* dcount, double* dx, double* dwidth) {
  double* count = malloc(bins * sizeof(double));
  double* seed = malloc(bins * sizeof(double));
  memcpy(seed, dcount, bins * sizeof(double));
  memset(dx, 0, n * sizeof(double));
  *dwidth = __enzyme_autodiff((void*)histogram, enzyme_dup, x, dx, enzyme_const, n, enzyme_out, width, enzyme_const, bins,
                    enzyme_dupnoneed, count, seed);
  free(seed);
  free(count);
}
