// An implicit time step: (I + dt K) u' = u by dgesv, repeated in one buffer. The factors are not used.
#include <string.h>
void dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, double* b, const int* ldb, int* info);

void heat(const double* K, double* u, double dt, int n) {
  double a[36];
  int ipiv[6], info, one = 1;
  for (int step = 0; step < 3; step++) {
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) a[j * n + i] = (i == j) + dt * K[i * n + j];
    dgesv_(&n, &one, a, &n, ipiv, u, &n, &info);
  }
}
