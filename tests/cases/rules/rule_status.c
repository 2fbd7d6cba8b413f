// A function that returns a status and writes two results, one of them a number behind a pointer.
#include <ffgrad/derivatives.h>
#include <math.h>

int polar(double x, double y, double* r, double* phi) {
  *r = hypot(x, y);
  *phi = atan2(y, x);
  return *r > 0 ? 0 : -1;
}
int polar_fwd(double x, double dx, double y, double dy, double* r, double* dr, double* phi, double* dphi) {
  int status = polar(x, y, r, phi);
  *dr = (x * dx + y * dy) / *r;
  *dphi = (x * dy - y * dx) / (*r * *r);
  return status;
}
void polar_rev(double x, double* dx, double y, double* dy, double* r, double* dr, double* phi, double* dphi) {
  double s = x * x + y * y, root = sqrt(s);
  *dx += x / root * *dr - y / s * *dphi;
  *dy += y / root * *dr + x / s * *dphi;
  *dr = *dphi = 0;
}
FFGRAD_DERIVATIVES(polar, polar_fwd, polar_rev);

int spiral(const double* x, const double* y, int n, double* out) {
  int failures = 0;
  for (int i = 0; i < n; i++) {
    double r, phi;
    failures += polar(x[i], y[i], &r, &phi) != 0;
    out[i] = r * r * phi;
  }
  return failures;
}
