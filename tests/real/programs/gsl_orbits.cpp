// A damped pendulum by the methods of gsl_odeiv2: with a driver, in steps of the caller's, in steps of one length.
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>
#include <cmath>

namespace {
struct Pendulum {
  double frequency, damping;
};

int slope(double t, const double state[], double rate[], void* given) {
  const auto* p = static_cast<const Pendulum*>(given);
  rate[0] = state[1];
  rate[1] = -p->frequency * std::sin(state[0]) - p->damping * state[1] + 0.1 * std::cos(t);
  return GSL_SUCCESS;
}
}  // namespace

void orbits(const double* x, double* y) {
  Pendulum pendulum{x[0], x[1]};
  gsl_odeiv2_system system = {slope, nullptr, 2, &pendulum};
  const gsl_odeiv2_step_type* types[] = {gsl_odeiv2_step_rk2,  gsl_odeiv2_step_rk4,   gsl_odeiv2_step_rkf45,
                                         gsl_odeiv2_step_rkck, gsl_odeiv2_step_rk8pd, gsl_odeiv2_step_msadams};
  int count = 0;
  for (const auto* type : types) {
    gsl_odeiv2_driver* driver = gsl_odeiv2_driver_alloc_y_new(&system, type, 1e-3, 1e-8, 1e-8);
    double t = 0, state[2] = {x[2], 0.1};
    if (gsl_odeiv2_driver_apply(driver, &t, 1.0 + 0.1 * x[3], state) != GSL_SUCCESS) state[0] = -1;
    gsl_odeiv2_driver_free(driver);
    y[count++] = state[0] + state[1];
  }
  gsl_odeiv2_driver* driver = gsl_odeiv2_driver_alloc_standard_new(&system, gsl_odeiv2_step_rk4, 1e-3, 1e-8, 1e-8, 1, 0);
  double t = 0, state[2] = {x[2], 0.0};
  gsl_odeiv2_driver_apply_fixed_step(driver, &t, 0.25, 4, state);
  gsl_odeiv2_driver_free(driver);
  y[count++] = state[0];

  gsl_odeiv2_step* step = gsl_odeiv2_step_alloc(gsl_odeiv2_step_rkck, 2);
  gsl_odeiv2_control* control = gsl_odeiv2_control_yp_new(1e-9, 1e-9);
  gsl_odeiv2_evolve* evolve = gsl_odeiv2_evolve_alloc(2);
  double h = 1e-2;
  t = 0, state[0] = 0.3, state[1] = x[3];
  while (t < 1.5)
    if (gsl_odeiv2_evolve_apply(evolve, control, step, &system, &t, 1.5, &h, state) != GSL_SUCCESS) break;
  gsl_odeiv2_evolve_free(evolve);
  gsl_odeiv2_control_free(control);
  gsl_odeiv2_step_free(step);
  y[count] = state[1];
}
