// Planck's radiation over all frequencies, and the tail of a resonance below a frequency: infinite ranges. Far out the first is 0 and its derivative
// inf / inf.
#include <gsl/gsl_integration.h>
#include <cmath>

namespace {
struct Source {
  double temperature, gain;
};

double planck(double frequency, void* given) {
  const auto* s = static_cast<const Source*>(given);
  if (frequency < 1e-12) return 0.0;
  return s->gain * frequency * frequency * frequency / std::expm1(frequency / s->temperature);
}

double resonance(double frequency, void* given) {
  const auto* s = static_cast<const Source*>(given);
  return s->gain / (s->temperature * s->temperature + frequency * frequency);
}
}  // namespace

void radiation(const double* x, double* y) {
  Source source{x[0], 1 + x[1]};
  gsl_function f = {planck, &source}, g = {resonance, &source};
  gsl_integration_workspace* space = gsl_integration_workspace_alloc(200);
  double error;
  gsl_integration_qagiu(&f, 0.0, 1e-11, 1e-9, 200, space, &y[0], &error);
  gsl_integration_qagil(&g, x[2], 1e-11, 1e-9, 200, space, &y[1], &error);
  gsl_integration_workspace_free(space);
}
