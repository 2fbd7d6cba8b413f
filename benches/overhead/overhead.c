// The function of examples/test.c and its gradient by hand, for the calls whose overhead is compared.
#include "../../examples/test.c"

void f_gradient(const float* x, size_t n, const float* dy, float* dx) {
  for (size_t i = 0; i < n; i++) dx[i] = dy[i] * (sinf(x[i]) + x[i] * cosf(x[i]));
}
