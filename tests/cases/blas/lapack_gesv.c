// A linear system solved by dgesv, several right-hand sides; the matrix depends on the inputs and is overwritten. The
// product of the diagonal of U, the determinant up to its sign, is used too.
void dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, double* b, const int* ldb, int* info);

double solve(const double* A, const double* B, int n, int m, double* X) {
  double lu[36], det = 1;
  int ipiv[6], info;
  for (int i = 0; i < n * n; i++) lu[i] = A[i] * A[i] + (i % (n + 1) == 0);
  for (int i = 0; i < n * m; i++) X[i] = B[i];
  dgesv_(&n, &m, lu, &n, ipiv, X, &n, &info);
  for (int i = 0; i < n; i++) det *= lu[i * (n + 1)];
  return det * det;
}
