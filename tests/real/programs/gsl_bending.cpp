// Bending energy of a beam through measured points: a cubic spline, evaluated by the function that is integrated, and the length of a part.
#include <cmath>
#include <memory>

#include <gsl/gsl_integration.h>
#include <gsl/gsl_spline.h>

namespace {

struct Release {
  void operator()(gsl_spline* p) const { gsl_spline_free(p); }
  void operator()(gsl_interp_accel* p) const { gsl_interp_accel_free(p); }
  void operator()(gsl_integration_workspace* p) const { gsl_integration_workspace_free(p); }
};

struct Beam {
  const gsl_spline* shape;
  gsl_interp_accel* place;
};

double curvature(double x, void* given) {
  const Beam* beam = static_cast<const Beam*>(given);
  const double second = gsl_spline_eval_deriv2(beam->shape, x, beam->place);
  const double slope = gsl_spline_eval_deriv(beam->shape, x, beam->place);
  return second * second / std::pow(1 + slope * slope, 2.5);
}

}  // namespace

double bending(const double* x, const double* y, int n, double stiffness) {
  const std::unique_ptr<gsl_spline, Release> shape(gsl_spline_alloc(gsl_interp_cspline, n));
  const std::unique_ptr<gsl_interp_accel, Release> place(gsl_interp_accel_alloc());
  const std::unique_ptr<gsl_integration_workspace, Release> workspace(gsl_integration_workspace_alloc(100));
  gsl_spline_init(shape.get(), x, y, n);
  Beam beam = {shape.get(), place.get()};
  gsl_function integrand = {curvature, &beam};
  double energy = 0;
  for (int i = 0; i + 1 < n; i++) {
    double part = 0, error = 0;
    gsl_integration_qag(&integrand, x[i], x[i + 1], 0, 1e-10, 100, GSL_INTEG_GAUSS21, workspace.get(), &part, &error);
    energy += part;
  }
  return 0.5 * stiffness * energy + 0.1 * gsl_spline_eval_integ(shape.get(), x[0], x[n - 1], place.get());
}
