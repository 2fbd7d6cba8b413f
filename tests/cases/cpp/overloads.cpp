// Overloaded functions in a namespace, distinguished by their demangled names.
#include <cmath>

namespace ns {

double f(double const* x, int n) {
  double s = 0.0;
  for (int i = 0; i < n; i++) s += std::cos(x[i]) * x[i];
  return s;
}

float f(float const* x, int n) {
  float s = 0.0f;
  for (int i = 0; i < n; i++) s += std::sqrt(1.0f + x[i] * x[i]);
  return s;
}

}  // namespace ns
