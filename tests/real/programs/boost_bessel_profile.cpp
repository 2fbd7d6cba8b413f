// Intensity of light behind a round aperture, with Boost's Bessel function.
#include <boost/math/special_functions/bessel.hpp>

void airy_pattern(const double* angle, double width, double* intensity, int n) {
  for (int i = 0; i < n; ++i) {
    const double u = width * angle[i];
    const double amplitude = 2.0 * boost::math::cyl_bessel_j(1, u) / u;
    intensity[i] = amplitude * amplitude;
  }
}
