// A quasi-Newton (BFGS) update of an inverse Hessian from a step and a change of gradient, by rank-one updates.
void cblas_dger(int order, int m, int n, double alpha, const double* x, int incx, const double* y, int incy, double* a,
                int lda);
void cblas_dgemv(int order, int trans, int m, int n, double alpha, const double* a, int lda, const double* x, int incx,
                 double beta, double* y, int incy);
double cblas_ddot(int n, const double* x, int incx, const double* y, int incy);

void bfgs(double* H, const double* s, const double* y, int n) {
  double Hy[16];
  double sy = cblas_ddot(n, s, 1, y, 1);
  cblas_dgemv(102, 111, n, n, 1.0, H, n, y, 1, 0.0, Hy, 1);
  double yHy = cblas_ddot(n, y, 1, Hy, 1);
  cblas_dger(102, n, n, (1.0 + yHy / sy) / sy, s, 1, s, 1, H, n);
  cblas_dger(102, n, n, -1.0 / sy, Hy, 1, s, 1, H, n);
  cblas_dger(101, n, n, -1.0 / sy, Hy, 1, s, 1, H, n);
}
