// The negative log likelihood of a Gaussian: potrf, potrs, and the determinant from the factor's diagonal.
#include <math.h>
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda, double* b, const int* ldb,
             int* info);

double likelihood(const double* S, const double* y, int n) {
  double l[36], x[6], sum = 0;
  int info, one = 1;
  for (int i = 0; i < n * n; i++) l[i] = S[i];
  for (int i = 0; i < n; i++) x[i] = y[i];
  dpotrf_("L", &n, l, &n, &info);
  dpotrs_("L", &n, &one, l, &n, x, &n, &info);
  for (int i = 0; i < n; i++) sum += 0.5 * y[i] * x[i] + log(l[i * (n + 1)]);
  return sum;
}
