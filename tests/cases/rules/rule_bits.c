// The inverse square root by its famous bit trick, which has no derivative; the rule has that of 1 / sqrt.
#include <ffgrad/derivatives.h>
#include <stdint.h>
#include <string.h>

double rsqrt(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = 0x5fe6eb50c7b537a9 - (bits >> 1);
  double y;
  memcpy(&y, &bits, sizeof y);
  for (int i = 0; i < 5; i++) y *= 1.5 - 0.5 * x * y * y;
  return y;
}
double rsqrt_fwd(double x, double dx, double* dy) {
  double y = rsqrt(x);
  *dy = -0.5 * y * y * y * dx;
  return y;
}
void rsqrt_rev(double x, double* dx, double dy) {
  double y = rsqrt(x);
  *dx -= 0.5 * y * y * y * dy;
}
FFGRAD_DERIVATIVES(rsqrt, rsqrt_fwd, rsqrt_rev);

void normalise(const double* v, int n, double* out) {
  double s = 0;
  for (int i = 0; i < n; i++) s += v[i] * v[i];
  double r = rsqrt(s);
  for (int i = 0; i < n; i++) out[i] = v[i] * r;
}
