// An integer size that no input has: k Chebyshev features for each value, k from sizes={}.
void chebyshev(const double* x, int n, int k, double* T) {
  for (int i = 0; i < n; i++) {
    double a = 1.0, b = x[i];
    for (int j = 0; j < k; j++) {
      T[i * k + j] = a;
      double next = 2.0 * x[i] * b - a;
      a = b;
      b = next;
    }
  }
}
