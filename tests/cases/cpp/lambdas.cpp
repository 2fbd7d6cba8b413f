// Lambdas that capture by reference and by value, passed to a template.
#include <cmath>

namespace {

template <typename G>
double trapezoid(G&& g, double a, double b, int n) {
  double h = (b - a) / n, s = 0.5 * (g(a) + g(b));
  for (int i = 1; i < n; i++) s += g(a + i * h);
  return s * h;
}

}  // namespace

extern "C" void fourier(const double* amplitude, int n, double* coefficient) {
  auto signal = [&](double t) {
    double s = 0.0;
    for (int k = 0; k < n; k++) s += amplitude[k] * amplitude[k] * std::sin((k + 1) * t);
    return s;
  };
  for (int k = 0; k < n; k++)
    coefficient[k] = trapezoid([k, &signal](double t) { return signal(t) * std::cos(0.5 * k * t); }, 0.0, 1.0, 12);
}
