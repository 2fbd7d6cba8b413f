// What a user of Enzyme alone writes.
#include <string.h>

#include "bundle.c"

extern int enzyme_dup, enzyme_const;
double __enzyme_autodiff(void*, ...);

void gradient(const double* cameras, const double* points, const double* weights, const int* seen, const double* features,
              int n, int m, int p, double* dcameras, double* dpoints, double* dweights) {
  memset(dcameras, 0, 11 * n * sizeof(double));
  memset(dpoints, 0, 3 * m * sizeof(double));
  memset(dweights, 0, p * sizeof(double));
  __enzyme_autodiff((void*)bundle, enzyme_dup, cameras, dcameras, enzyme_dup, points, dpoints, enzyme_dup, weights, dweights,
                    enzyme_const, seen, enzyme_const, features, enzyme_const, n, enzyme_const, m, enzyme_const, p);
}
