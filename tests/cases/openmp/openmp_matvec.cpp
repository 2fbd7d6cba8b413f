// A dense product and its norm, with templates, in single precision.
#include <cmath>
template <typename T> static void product(const T *a, const T *x, int m, int n, T *y) {
#pragma omp parallel for schedule(guided, 2)
  for (int i = 0; i < m; i++) {
    T sum = 0;
    for (int j = 0; j < n; j++) sum += a[i * n + j] * x[j];
    y[i] = sum;
  }
}
extern "C" float residual(const float *a, const float *x, const float *b, int m, int n, float *y) {
  product(a, x, m, n, y);
  float norm = 0;
#pragma omp parallel for reduction(+ : norm)
  for (int i = 0; i < m; i++) {
    y[i] -= b[i];
    norm += y[i] * y[i];
  }
  return std::sqrt(norm);
}
