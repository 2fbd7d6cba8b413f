// By hand: dx = (dy - <x, dy> / sum(x)) / sum(x).
#include "normalise.c"

void primal(const double* x, int n, double* y) { normalise(x, n, y); }

void gradient(const double* restrict x, int n, const double* restrict dy, double* restrict dx) {
  double sum = 0.0, along = 0.0;
  for (int i = 0; i < n; i++) {
    sum += x[i];
    along += x[i] * dy[i];
  }
  const double inverse = 1.0 / sum, shift = along / sum;
  for (int i = 0; i < n; i++) dx[i] = (dy[i] - shift) * inverse;
}
