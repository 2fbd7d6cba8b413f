// Vectors with steps of their own, also backwards, by the Fortran names.
double ddot_(const int* n, const double* x, const int* incx, const double* y, const int* incy);
void daxpy_(const int* n, const double* a, const double* x, const int* incx, double* y, const int* incy);
void dscal_(const int* n, const double* a, double* x, const int* incx);
double dnrm2_(const int* n, const double* x, const int* incx);

double vectors(const double* x, double* y, double a, int n) {
  const int one = 1, two = 2, back = -2, half = n / 2;
  daxpy_(&half, &a, x, &two, y, &back);
  double s = ddot_(&half, x, &back, y, &two);
  dscal_(&n, &s, y, &one);
  return dnrm2_(&n, y, &one) + ddot_(&n, x, &one, x, &one);
}
