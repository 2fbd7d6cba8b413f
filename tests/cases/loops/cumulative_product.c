// A cumulative product: each output depends on all inputs before it.
void cumprod(const double* x, int n, double* y) {
  double p = 1.0;
  for (int i = 0; i < n; i++) {
    p *= x[i];
    y[i] = p;
  }
}
