// Power in a band of a black body's spectrum, by Gauss-Kronrod quadrature.
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>

double band_power(double temperature, double from, double to) {
  auto planck = [temperature](double nu) { return nu * nu * nu / std::expm1(nu / temperature); };
  double error = 0.0;
  return boost::math::quadrature::gauss_kronrod<double, 15>::integrate(planck, from, to, 5, 1e-9, &error);
}
