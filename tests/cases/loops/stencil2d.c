// A two-dimensional stencil: the five-point Laplacian with a nonlinear source.
void laplace(const double* u, int m, int n, double* out) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      int c = i * n + j;
      if (i == 0 || j == 0 || i == m - 1 || j == n - 1)
        out[c] = u[c];
      else
        out[c] = u[c - 1] + u[c + 1] + u[c - n] + u[c + n] - 4.0 * u[c] + u[c] * u[c] * u[c];
    }
}
