// Share of doses above a threshold, by beta distributions: Boost's incomplete beta function, in long double by default.
#include <boost/math/distributions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>

double response(const double* a, const double* b, double threshold, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    const boost::math::beta_distribution<double> dose(a[i], b[i]);
    sum += boost::math::cdf(boost::math::complement(dose, threshold)) + 0.01 * boost::math::digamma(a[i]);
  }
  return sum;
}
