// A power iteration by gemv, nrm2 and scal: the vector is overwritten at every step.
void cblas_dgemv(int order, int trans, int m, int n, double alpha, const double* a, int lda, const double* x, int incx,
                 double beta, double* y, int incy);
double cblas_dnrm2(int n, const double* x, int incx);
void cblas_dscal(int n, double a, double* x, int incx);
void cblas_dcopy(int n, const double* x, int incx, double* y, int incy);

double power(const double* A, const double* x, int n) {
  double u[16], v[16];
  cblas_dcopy(n, x, 1, u, 1);
  for (int step = 0; step < 4; step++) {
    cblas_dgemv(101, step % 2 ? 112 : 111, n, n, 1.0, A, n, u, 1, 0.0, v, 1);
    cblas_dscal(n, 1.0 / cblas_dnrm2(n, v, 1), v, 1);
    cblas_dcopy(n, v, 1, u, 1);
  }
  cblas_dgemv(101, 111, n, n, 0.5, A, n, u, 1, 2.0, v, 1);
  return cblas_dnrm2(n, v, 1);
}
