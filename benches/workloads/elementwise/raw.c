// What a user of Enzyme alone writes: shadows are zeroed, and the cotangent, which the reverse pass consumes, is copied.
#include <stdlib.h>
#include <string.h>

#include "elementwise.c"

extern int enzyme_dup, enzyme_dupnoneed, enzyme_const;
void __enzyme_autodiff(void*, ...);

void gradient(const REAL* x, int n, const REAL* dy, REAL* dx) {
  REAL* y = malloc(n * sizeof(REAL));
  REAL* seed = malloc(n * sizeof(REAL));
  memcpy(seed, dy, n * sizeof(REAL));
  memset(dx, 0, n * sizeof(REAL));
  __enzyme_autodiff((void*)elementwise, enzyme_dup, x, dx, enzyme_const, n, enzyme_dupnoneed, y, seed);
  free(seed);
  free(y);
}
