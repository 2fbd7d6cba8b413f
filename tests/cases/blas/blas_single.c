// A dense layer in single precision: tanh(X W + b), the bias added by axpy, and its mean square by dot.
#include <math.h>
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                 int ldb, float beta, float* c, int ldc);
void cblas_saxpy(int n, float a, const float* x, int incx, float* y, int incy);
float cblas_sdot(int n, const float* x, int incx, const float* y, int incy);

float layer(const float* X, const float* W, const float* b, int m, int k, int n, float* Y) {
  cblas_sgemm(101, 111, 111, m, n, k, 1.0f, X, k, W, n, 0.0f, Y, n);
  for (int i = 0; i < m; i++) cblas_saxpy(n, 1.0f, b, 1, Y + i * n, 1);
  for (int i = 0; i < m * n; i++) Y[i] = tanhf(Y[i]);
  return cblas_sdot(m * n, Y, 1, Y, 1) / (m * n);
}
