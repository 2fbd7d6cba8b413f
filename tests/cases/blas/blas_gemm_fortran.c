// A chain of products by the Fortran name, every combination of transposition, in buffers that are used again.
#include <stdlib.h>
void dgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const double* alpha, const double* a,
            const int* lda, const double* b, const int* ldb, const double* beta, double* c, const int* ldc);

void chain(const double* A, const double* B, int n, double* C) {
  const double one = 1.0, half = 0.5, zero = 0.0;
  double* T = malloc(n * n * sizeof(double));
  dgemm_("N", "N", &n, &n, &n, &one, A, &n, B, &n, &zero, T, &n);
  dgemm_("T", "N", &n, &n, &n, &one, T, &n, A, &n, &zero, C, &n);
  dgemm_("N", "T", &n, &n, &n, &half, C, &n, B, &n, &zero, T, &n);
  dgemm_("T", "T", &n, &n, &n, &one, T, &n, T, &n, &half, C, &n);
  free(T);
}
