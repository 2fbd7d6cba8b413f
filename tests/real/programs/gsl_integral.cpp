// Luminosity distance in a flat universe: gsl_integration_qag with a callback and its parameters.
#include <cmath>
#include <gsl/gsl_integration.h>

namespace {
struct Cosmology {
  double matter, dark_energy;
};

double inverse_hubble(double z, void* given) {
  const auto* cosmology = static_cast<const Cosmology*>(given);
  const double a = 1.0 + z;
  return 1.0 / std::sqrt(cosmology->matter * a * a * a + cosmology->dark_energy);
}
}  // namespace

double luminosity_distance(double z, double matter) {
  Cosmology cosmology{matter, 1.0 - matter};
  gsl_function f;
  f.function = &inverse_hubble;
  f.params = &cosmology;
  gsl_integration_workspace* space = gsl_integration_workspace_alloc(200);
  double result = 0.0, error = 0.0;
  gsl_integration_qag(&f, 0.0, z, 0.0, 1e-10, 200, GSL_INTEG_GAUSS21, space, &result, &error);
  gsl_integration_workspace_free(space);
  return (1.0 + z) * result;
}
