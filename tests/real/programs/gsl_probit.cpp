// Log-likelihood of a probit model, with GSL's error functions, log-gamma and beta prior.
#include <cmath>
#include <gsl/gsl_sf_erf.h>
#include <gsl/gsl_sf_gamma.h>

double probit(const double* x, const double* beta, int n) {
  double sum = gsl_sf_lngamma(beta[0] * beta[0] + 1.0);
  for (int i = 0; i < n; ++i) {
    const double z = beta[0] + beta[1] * x[i];
    const double success = 1.0 - gsl_sf_erf_Q(z);
    sum += i % 2 ? std::log(success) : std::log(gsl_sf_erf_Q(z));
  }
  return sum;
}
