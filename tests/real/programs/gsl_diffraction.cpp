// Light behind a ring-shaped aperture, with GSL's Bessel functions.
#include <gsl/gsl_sf_bessel.h>

void ring_pattern(const double* angle, double outer, double inner, double* intensity, int n) {
  for (int i = 0; i < n; ++i) {
    const double a = outer * gsl_sf_bessel_J1(outer * angle[i]) - inner * gsl_sf_bessel_J1(inner * angle[i]);
    intensity[i] = a * a / (angle[i] * angle[i]) + 0.01 * gsl_sf_bessel_J0(angle[i]);
  }
}
