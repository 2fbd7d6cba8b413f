// Scratch memory given by the caller, zeroed, and with a shadow of its own: work[8*n].
#include <stddef.h>

void powers(const double* x, size_t n, double* work, double* y) {
  for (size_t i = 0; i < n; i++) {
    double* w = work + 8 * i;
    w[0] += x[i];  // relies on the zeros
    for (int k = 1; k < 8; k++) w[k] = w[k - 1] * x[i] + 0.1 * k;
    y[i] = w[7];
  }
}
