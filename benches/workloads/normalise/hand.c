// By hand: dx = (dy - y <y, dy>) / |x|.
#include "normalise.c"

void primal(const double* x, int n, double* y) { normalise(x, n, y); }

void gradient(const double* restrict x, int n, const double* restrict dy, double* restrict dx) {
  double square = 0.0, along = 0.0;
  for (int i = 0; i < n; i++) {
    square += x[i] * x[i];
    along += x[i] * dy[i];
  }
  const double inverse = 1.0 / sqrt(square);
  const double scale = along / square;
  for (int i = 0; i < n; i++) dx[i] = (dy[i] - x[i] * scale) * inverse;
}
