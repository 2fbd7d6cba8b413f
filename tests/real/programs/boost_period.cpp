// Period of a pendulum of large amplitude, by tanh-sinh quadrature over an integrand with a singular end.
#include <boost/math/quadrature/tanh_sinh.hpp>
#include <cmath>

double pendulum_period(double amplitude, double length) {
  boost::math::quadrature::tanh_sinh<double> integrator(8);
  const double k = std::sin(0.5 * amplitude);
  const auto integrand = [k](double s) { return 1.0 / std::sqrt((1.0 - s * s) * (1.0 - k * k * s * s)); };
  const double quarter = integrator.integrate(integrand, 0.0, 1.0, 1e-10);
  return 4.0 * std::sqrt(length / 9.81) * quarter;
}
