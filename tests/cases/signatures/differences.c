// A dimension expression: n values in, n - 1 differences out.
void log_differences(const double* x, int n, double* y) {
  for (int i = 0; i + 1 < n; i++) y[i] = x[i + 1] * x[i + 1] - x[i];
}
