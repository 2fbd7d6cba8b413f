// A line load with a singular place inside, and fixed rules of Gauss and Kronrod on both sides of it.
#include <gsl/gsl_integration.h>

#include <cmath>

namespace {
struct Load { double place, decay; };

double pressure(double x, void* given) {
  const Load* load = static_cast<const Load*>(given);
  return std::exp(-load->decay * x) * std::log(std::fabs(x - load->place));
}

double smooth(double x, void* given) {
  const Load* load = static_cast<const Load*>(given);
  return std::cos(load->place * x) * std::exp(-load->decay * x * x);
}
}  // namespace

void loads(double place, double decay, double* force) {
  Load load = {place, decay};
  double error, size, deviation;
  gsl_function singular = {pressure, &load}, plain = {smooth, &load};
  gsl_integration_workspace* space = gsl_integration_workspace_alloc(400);
  double points[] = {0.0, place, 2.0};
  gsl_integration_qagp(&singular, points, 3, 0.0, 1e-10, 400, space, &force[0], &error);
  gsl_integration_qk15(&plain, 0.0, place, &force[1], &error, &size, &deviation);
  gsl_integration_qk61(&plain, place, 2.0, &force[2], &error, &size, &deviation);
  gsl_integration_workspace_free(space);
}
