// Log-likelihood of a gamma distribution with some observations censored: tgamma, gamma_q, digamma's source.
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

double censored_gamma(const double* t, const double* shape_scale, int n) {
  const double shape = shape_scale[0], scale = shape_scale[1];
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    if (t[i] < 2.0)
      sum += (shape - 1.0) * std::log(t[i]) - t[i] / scale - boost::math::lgamma(shape) - shape * std::log(scale);
    else
      sum += std::log(boost::math::gamma_q(shape, 2.0 / scale));
  }
  return sum;
}
