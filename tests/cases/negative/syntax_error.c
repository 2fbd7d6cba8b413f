// Does not compile: a missing semicolon on line 4.
void scale(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    double v = 2.0 * x[i]
    y[i] = v;
  }
}
