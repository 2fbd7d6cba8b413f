// A monotone interpolant of a dose-response curve, evaluated at doses.
#include <math.h>  // pchip.hpp of Boost 1.74 calls isnan without a namespace

#include <boost/math/interpolators/pchip.hpp>
#include <vector>

void responses(const double* response, const double* dose, double* found, int n, int m) {
  std::vector<double> x(n), y(response, response + n);
  for (int i = 0; i < n; ++i) x[i] = i;
  const auto curve = boost::math::interpolators::pchip<std::vector<double>>(std::move(x), std::move(y));
  for (int j = 0; j < m; ++j) found[j] = curve(dose[j]);
}
