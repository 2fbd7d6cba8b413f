// A function with a rule, called on arrays on the stack of a function that calls itself.
#include <ffgrad/derivatives.h>

void square(const double* u, double* v, int n) {
  for (int i = 0; i < n; i++) v[i] = u[i] * u[i];
}
void square_fwd(const double* u, const double* du, double* v, double* dv, int n) {
  square(u, v, n);
  for (int i = 0; i < n; i++) dv[i] = du ? 2 * u[i] * du[i] : 0;
}
void square_rev(const double* u, double* du, double* v, double* dv, int n) {
  for (int i = 0; i < n; i++) {
    if (du) du[i] += 2 * u[i] * dv[i];
    dv[i] = 0;
  }
}
FFGRAD_DERIVATIVES(square, square_fwd, square_rev);

__attribute__((noinline)) static double level(const double* x, int n, int depth) {
  double a[8], b[8], s = 0;
  for (int i = 0; i < n; i++) a[i] = x[i] * 1.1 + 0.1 * depth;
  square(a, b, n);
  for (int i = 0; i < n; i++) s += b[i] * x[i];
  return depth > 0 ? s + level(b, n, depth - 1) : s;
}

double levels(const double* x, int n) { return level(x, n, 2) + level(x, n, 1); }
