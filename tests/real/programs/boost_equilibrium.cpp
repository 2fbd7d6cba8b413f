// Extent of a reaction at equilibrium: a root between two bounds by TOMS 748, then one Newton step.
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>

double extent(double constant, double acid, double base) {
  const auto balance = [=](double z) { return z * z - constant * (acid - z) * (base - z); };
  std::uintmax_t iterations = 100;
  const auto bounds = boost::math::tools::toms748_solve(balance, 0.0, std::fmin(acid, base),
                                                        boost::math::tools::eps_tolerance<double>(50), iterations);
  const double z = 0.5 * (bounds.first + bounds.second);
  return z - balance(z) / (2.0 * z + constant * (acid + base - 2.0 * z));
}
