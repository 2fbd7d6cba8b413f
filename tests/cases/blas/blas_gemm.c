// C = A B^T twice, by the C name with rows first: once into zeros, once on top, with a factor.
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b,
                 int ldb, double beta, double* c, int ldc);

void products(const double* A, const double* B, double alpha, double beta, int m, int n, int k, double* C) {
  cblas_dgemm(101, 111, 112, m, n, k, 1.0, A, k, B, k, 0.0, C, n);
  cblas_dgemm(101, 111, 112, m, n, k, alpha, A, k, B, k, beta, C, n);
}
