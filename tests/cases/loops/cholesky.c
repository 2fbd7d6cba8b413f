// Cholesky factorisation of the lower triangle, then a solve: the log-likelihood of a normal.
#include <math.h>
#include <stdlib.h>

double normal_log_density(const double* S, const double* x, int n) {
  double* L = calloc((size_t)(n * n), sizeof(double));
  double* z = malloc((size_t)n * sizeof(double));
  double log_det = 0.0, square = 0.0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double s = S[i * n + j];
      for (int k = 0; k < j; k++) s -= L[i * n + k] * L[j * n + k];
      L[i * n + j] = i == j ? sqrt(s) : s / L[j * n + j];
    }
    double s = x[i];
    for (int k = 0; k < i; k++) s -= L[i * n + k] * z[k];
    z[i] = s / L[i * n + i];
    square += z[i] * z[i];
    log_det += log(L[i * n + i]);
  }
  free(z);
  free(L);
  return -0.5 * square - log_det - 0.9189385332046727 * n;
}
