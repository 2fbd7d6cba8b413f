// Price of a European call with Boost's normal distribution.
#include <boost/math/distributions/normal.hpp>
#include <cmath>

double call_price(double spot, double strike, double rate, double volatility, double maturity) {
  const boost::math::normal standard;
  const double width = volatility * std::sqrt(maturity);
  const double d1 = (std::log(spot / strike) + (rate + 0.5 * volatility * volatility) * maturity) / width;
  return spot * boost::math::cdf(standard, d1) - strike * std::exp(-rate * maturity) * boost::math::cdf(standard, d1 - width);
}
