// The largest eigenvalue of a symmetric matrix by power iteration; its derivative is v v^T (Magnus, "On differentiating
// eigenvalues and eigenvectors", 1985).
#include <ffgrad/derivatives.h>
#include <math.h>
#include <stdlib.h>

static double iterate(const double* A, int n, double* v) {
  double lambda = 0;
  for (int i = 0; i < n; i++) v[i] = 1.0 / (1 + i);
  for (int step = 0; step < 400; step++) {
    double w[16], norm = 0;
    for (int i = 0; i < n; i++) {
      w[i] = 0;
      for (int j = 0; j < n; j++) w[i] += A[i * n + j] * v[j];
      norm += w[i] * w[i];
    }
    norm = sqrt(norm);
    lambda = 0;
    for (int i = 0; i < n; i++) {
      lambda += v[i] * w[i];
      v[i] = w[i] / norm;
    }
  }
  return lambda;
}
double largest(const double* A, int n) {
  double v[16];
  return iterate(A, n, v);
}
double largest_fwd(const double* A, const double* dA, int n, double* dl) {
  double v[16], lambda = iterate(A, n, v);
  *dl = 0;
  for (int i = 0; dA && i < n * n; i++) *dl += v[i / n] * dA[i] * v[i % n];
  return lambda;
}
void largest_rev(const double* A, double* dA, int n, double dl) {
  double v[16];
  iterate(A, n, v);
  for (int i = 0; dA && i < n * n; i++) dA[i] += v[i / n] * dl * v[i % n];
}
FFGRAD_DERIVATIVES(largest, largest_fwd, largest_rev);

double stiffness(const double* k, int n) {
  double A[16] = {0};
  for (int i = 0; i < n; i++) {
    A[i * n + i] += k[i] + (i + 1 < n ? k[i + 1] : 0);
    if (i + 1 < n) A[i * n + i + 1] = A[(i + 1) * n + i] = -k[i + 1];
  }
  return largest(A, n);
}
