// Energy in a tabulated potential: a natural cubic spline of GSL.
#include <gsl/gsl_spline.h>

double tabulated_energy(const double* radii, const double* values, const double* r, int n, int m) {
  gsl_interp_accel* accelerator = gsl_interp_accel_alloc();
  gsl_spline* spline = gsl_spline_alloc(gsl_interp_cspline, n);
  gsl_spline_init(spline, radii, values, n);
  double sum = 0.0;
  for (int i = 0; i < m; ++i) sum += gsl_spline_eval(spline, r[i], accelerator);
  gsl_spline_free(spline);
  gsl_interp_accel_free(accelerator);
  return sum;
}
