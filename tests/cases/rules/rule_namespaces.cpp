// C++ functions with mangled names; the options name them as the source does.
#include <cmath>

namespace fluid {
double drag(double re) { return re < 1.0 ? 24.0 / re : 24.0 / re * (1.0 + 0.15 * std::pow(re, 0.687)); }
double drag_fwd(double re, double dre, double* dcd) {
  double slope = -24.0 / (re * re) * (re < 1.0 ? 1.0 : 1.0 + 0.15 * (1.0 - 0.687) * std::pow(re, 0.687));
  *dcd = slope * dre;
  return drag(re);
}
void drag_rev(double re, double* dre, double dcd) {
  double slope = 0;
  drag_fwd(re, 1.0, &slope);
  *dre += slope * dcd;
}
}  // namespace fluid

extern "C" void settle(const double* d, int n, double* v) {
  for (int i = 0; i < n; i++) {
    double speed = 1.0;
    for (int step = 0; step < 6; step++) speed = 0.5 * (speed + std::sqrt(d[i] / fluid::drag(speed * d[i] * 10.0)));
    v[i] = speed;
  }
}
