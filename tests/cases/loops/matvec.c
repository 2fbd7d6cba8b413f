// A matrix and a vector; both dimensions are bound from the shapes.
void matvec(const double* A, const double* x, int m, int n, double* y) {
  for (int i = 0; i < m; i++) {
    y[i] = 0.0;
    for (int j = 0; j < n; j++) y[i] += A[i * n + j] * x[j];
  }
}
