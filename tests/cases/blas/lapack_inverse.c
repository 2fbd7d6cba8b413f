// Inverses from a Cholesky factor, from an LU factorisation and of a triangle, and a triangular system.
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);
void dgetri_(const int* n, double* a, const int* lda, const int* ipiv, double* work, const int* lwork, int* info);
void dtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* lda, int* info);
void dtrtrs_(const char* uplo, const char* trans, const char* diag, const int* n, const int* nrhs, const double* a, const int* lda,
             double* b, const int* ldb, int* info);

void inverses(double* S, double* A, double* R, double* b, int n) {
  int info, ipiv[8], one = 1, size = 64;
  double work[64];
  dpotrf_("U", &n, S, &n, &info);
  dpotri_("U", &n, S, &n, &info);
  dgetrf_(&n, &n, A, &n, ipiv, &info);
  dgetri_(&n, A, &n, ipiv, work, &size, &info);
  dtrtri_("L", "U", &n, R, &n, &info);
  dtrtrs_("U", "T", "N", &n, &one, S, &n, b, &n, &info);
}
