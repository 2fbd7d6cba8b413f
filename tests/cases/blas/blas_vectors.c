// Symmetric, triangular and band products of vectors, with steps backwards; rotations, exchanges, sums of absolute values.
void dsymv_(const char* uplo, const int* n, const double* alpha, const double* a, const int* lda, const double* x, const int* incx,
            const double* beta, double* y, const int* incy);
void cblas_dtrmv(int order, int uplo, int trans, int diag, int n, const double* a, int lda, double* x, int incx);
void dtrsv_(const char* uplo, const char* trans, const char* diag, const int* n, const double* a, const int* lda, double* x,
            const int* incx);
void cblas_dsyr(int order, int uplo, int n, double alpha, const double* x, int incx, double* a, int lda);
void dsyr2_(const char* uplo, const int* n, const double* alpha, const double* x, const int* incx, const double* y, const int* incy,
            double* a, const int* lda);
void cblas_drot(int n, double* x, int incx, double* y, int incy, double c, double s);
void dswap_(const int* n, double* x, const int* incx, double* y, const int* incy);
double cblas_dasum(int n, const double* x, int incx);
void cblas_dgbmv(int order, int trans, int m, int n, int kl, int ku, double alpha, const double* a, int lda, const double* x, int incx,
                 double beta, double* y, int incy);

double vectors(double* A, const double* W, double* x, double* y, double c, int n) {
  int one = 1, back = -1;
  double beta = 0.5;
  cblas_dsyr(101, 121, n, c, x, -1, A, n);
  dsyr2_("L", &n, &beta, x, &one, y, &back, A, &n);
  dsymv_("L", &n, &c, A, &n, x, &back, &beta, y, &one);
  cblas_dtrmv(101, 121, 112, 131, n, A, n, x, 1);
  dtrsv_("L", "N", "N", &n, A, &n, y, &back);
  cblas_drot(n, x, 1, y, -1, c, 0.6);
  dswap_(&n, x, &back, y, &one);
  cblas_dgbmv(101, 111, n, n, 1, 1, c, W, 3, x, 1, beta, y, 1);
  return cblas_dasum(n, y, 1);
}
