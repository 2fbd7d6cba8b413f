// Horner's rule: gradients with respect to the coefficients and the points.
void horner(const double* c, const double* x, int k, int n, double* y) {
  for (int i = 0; i < n; i++) {
    double s = 0.0;
    for (int j = k - 1; j >= 0; j--) s = s * x[i] + c[j];
    y[i] = s;
  }
}
