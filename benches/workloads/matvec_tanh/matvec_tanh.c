// One dense layer: y = tanh(A x).
#include <math.h>

void layer(const double* A, const double* x, int m, int n, double* y) {
  for (int i = 0; i < m; i++) {
    double s = 0.0;
    for (int j = 0; j < n; j++) s += A[i * n + j] * x[j];
    y[i] = tanh(s);
  }
}
