// By hand: g = dy (1 - tanh(A x)^2), dA = g x^T, dx = A^T g; one pass over A.
#include <string.h>

#include "matvec_tanh.c"

void primal(const double* A, const double* x, int m, int n, double* y) { layer(A, x, m, n, y); }

void gradient(const double* restrict A, const double* restrict x, int m, int n, const double* restrict dy,
              double* restrict dA, double* restrict dx) {
  memset(dx, 0, n * sizeof(double));
  for (int i = 0; i < m; i++) {
    double s = 0.0;
    for (int j = 0; j < n; j++) s += A[i * n + j] * x[j];
    const double y = tanh(s);
    const double g = dy[i] * (1.0 - y * y);
    for (int j = 0; j < n; j++) {
      dA[i * n + j] = g * x[j];
      dx[j] += g * A[i * n + j];
    }
  }
}
