// tan and atan2, which clang emits as intrinsics of LLVM, in both precisions' width.
#include <math.h>

void angles(const double* x, const double* y, int n, double* out) {
  for (int i = 0; i < n; i++)
    out[i] = tan(0.4 * x[i]) + atan2(y[i], x[i]) * atan2(x[i], 1.5) + hypot(x[i], y[i]) + fmod(7 * x[i], 2.0 + y[i]);
}
