// Product of an enzyme after a time: gsl_odeiv2 with a driver of controlled error.
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>
#include <stdexcept>

namespace {
int kinetics(double, const double y[], double dydt[], void* given) {
  const double* k = static_cast<const double*>(given);
  const double rate = k[0] * y[0] / (k[1] + y[0]);
  dydt[0] = -rate;
  dydt[1] = rate - k[2] * y[1];
  return GSL_SUCCESS;
}
}  // namespace

void product(const double* k, double* y) {
  double parameters[3] = {k[0], k[1], k[2]};
  gsl_odeiv2_system system = {kinetics, nullptr, 2, parameters};
  gsl_odeiv2_driver* driver = gsl_odeiv2_driver_alloc_y_new(&system, gsl_odeiv2_step_rkf45, 1e-3, 1e-10, 0.0);
  double t = 0.0;
  double state[2] = {1.0, 0.0};
  if (gsl_odeiv2_driver_apply(driver, &t, 2.0, state) != GSL_SUCCESS) throw std::runtime_error("gsl_odeiv2 failed");
  gsl_odeiv2_driver_free(driver);
  y[0] = state[0];
  y[1] = state[1];
}
