// Triangular systems from both sides, both triangles, plain and transposed, with and without a unit diagonal.
void cblas_dtrsm(int order, int side, int uplo, int ta, int diag, int m, int n, double alpha, const double* a, int lda,
                 double* b, int ldb);

void triangles(const double* A, const double* D, double* B, double alpha, int m, int n) {
  cblas_dtrsm(101, 141, 122, 111, 131, m, n, alpha, A, m, B, n);
  cblas_dtrsm(101, 141, 121, 112, 132, m, n, 1.0, A, m, B, n);
  cblas_dtrsm(101, 142, 121, 111, 131, m, n, alpha, D, n, B, n);
  cblas_dtrsm(102, 142, 122, 112, 131, n, m, 1.0, A, m, B, n);
}
