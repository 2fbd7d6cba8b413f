// Symmetric and triangular products in both layouts and from both sides, with one triangle updated in place.
void cblas_dsyrk(int order, int uplo, int trans, int n, int k, double alpha, const double* a, int lda, double beta, double* c, int ldc);
void dsyr2k_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha, const double* a, const int* lda,
             const double* b, const int* ldb, const double* beta, double* c, const int* ldc);
void cblas_dsymm(int order, int side, int uplo, int m, int n, double alpha, const double* a, int lda, const double* b, int ldb, double beta,
                 double* c, int ldc);
void cblas_dtrmm(int order, int side, int uplo, int ta, int diag, int m, int n, double alpha, const double* a, int lda, double* b, int ldb);

void products(const double* A, const double* B, double* C, double* D, double alpha, double beta, int n, int k) {
  cblas_dsyrk(101, 121, 111, n, k, alpha, A, k, beta, C, n);
  cblas_dsyrk(101, 122, 112, n, n, 0.5, D, n, 1.0, C, n);
  dsyr2k_("L", "T", &n, &k, &beta, A, &k, B, &k, &alpha, C, &n);
  cblas_dsymm(101, 141, 121, n, n, alpha, C, n, D, n, 0.0, D + n * n, n);
  cblas_dsymm(102, 142, 121, n, n, 0.25, D, n, C, n, beta, D + n * n, n);
  cblas_dtrmm(101, 141, 122, 111, 131, n, n, alpha, C, n, D + n * n, n);
  cblas_dtrmm(102, 142, 122, 112, 132, n, n, beta, C, n, D + n * n, n);
}
