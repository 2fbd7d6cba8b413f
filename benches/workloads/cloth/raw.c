// What a user of Enzyme alone writes.
#include <string.h>

#include "cloth.c"

extern int enzyme_dup, enzyme_const;
double __enzyme_autodiff(void*, ...);

void gradient(const double* position, const double* stiffness, int m, int n, double* dposition, double* dstiffness) {
  memset(dposition, 0, 3 * (size_t)m * n * sizeof(double));
  memset(dstiffness, 0, 2 * sizeof(double));
  __enzyme_autodiff((void*)cloth, enzyme_dup, position, dposition, enzyme_dup, stiffness, dstiffness, enzyme_const, m,
                    enzyme_const, n);
}
