// Kepler's equation E - e sin E = M solved by iteration; its derivative from the implicit function theorem.
#include <ffgrad/derivatives.h>
#include <math.h>

double eccentric(double M, double e) {
  double E = M;
  for (int i = 0; i < 200; i++) E = M + e * sin(E);
  return E;
}
double eccentric_fwd(double M, double dM, double e, double de, double* dE) {
  double E = eccentric(M, e);
  *dE = (dM + sin(E) * de) / (1 - e * cos(E));
  return E;
}
void eccentric_rev(double M, double* dM, double e, double* de, double dE) {
  double E = eccentric(M, e), f = dE / (1 - e * cos(E));
  *dM += f;
  *de += f * sin(E);
}
FFGRAD_DERIVATIVES(eccentric, eccentric_fwd, eccentric_rev);

void orbit(const double* t, double e, int n, double* xy) {
  for (int i = 0; i < n; i++) {
    double E = eccentric(t[i], e);
    xy[2 * i] = cos(E) - e;
    xy[2 * i + 1] = sqrt(1 - e * e) * sin(E);
  }
}
