// LU with partial pivoting on a copy of the matrix (a stack array of variable length).
#include <math.h>
#include <string.h>

void solve(const double* A, const double* b, int n, double* x) {
  double M[n * n];
  memcpy(M, A, sizeof M);
  for (int i = 0; i < n; i++) x[i] = b[i];
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(M[i * n + k]) > fabs(M[p * n + k])) p = i;
    if (p != k) {
      for (int j = 0; j < n; j++) {
        double t = M[k * n + j];
        M[k * n + j] = M[p * n + j];
        M[p * n + j] = t;
      }
      double t = x[k];
      x[k] = x[p];
      x[p] = t;
    }
    for (int i = k + 1; i < n; i++) {
      double f = M[i * n + k] / M[k * n + k];
      for (int j = k; j < n; j++) M[i * n + j] -= f * M[k * n + j];
      x[i] -= f * x[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) x[i] -= M[i * n + j] * x[j];
    x[i] /= M[i * n + i];
  }
}
