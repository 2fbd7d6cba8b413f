// Functions of <cmath> that C++17 added, and hypot, fma, remainder and copysign.
#include <cmath>

double orbital_overlap(const double* r, double alpha, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    const double radius = std::hypot(r[i], 0.3, 0.1 * i);
    sum += std::exp(-alpha * radius) * std::legendre(2, std::cos(radius)) * std::laguerre(2, radius);
    sum += std::copysign(std::fma(alpha, radius, 1.0), r[i]) * std::erf(radius) / std::tgamma(1.0 + alpha);
  }
  return sum;
}
