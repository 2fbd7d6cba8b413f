/* An array of variable length in a loop, as scratch: a tridiagonal system for each right-hand side. Enzyme crashed. */
void solves(const double *x, int n, double *y) {
  for (int i = 0; i < n; i++) y[i] = 0;
  for (int r = 0; r < 3; r++) {
    double c[n], d[n];
    c[0] = 1 / (4 + x[0] * r);
    d[0] = x[0] * c[0];
    for (int i = 1; i < n; i++) {
      c[i] = 1 / (4 + x[i] * x[i] - c[i - 1]);
      d[i] = (x[i] * (r + 1) - d[i - 1]) * c[i];
    }
    if (r == 1 && n > 40) continue;
    for (int i = n - 2; i >= 0; i--) d[i] -= c[i] * d[i + 1];
    for (int i = 0; i < n; i++) y[i] += d[i] * d[i];
  }
}
