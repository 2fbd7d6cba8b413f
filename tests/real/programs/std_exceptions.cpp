// A root search that falls back where Newton's method leaves the domain: an exception thrown and caught.
#include <cmath>
#include <stdexcept>
#include <string>

class DomainLeft : public std::runtime_error {
 public:
  explicit DomainLeft(double x) : std::runtime_error("left the domain at " + std::to_string(x)) {}
};

static double newton(double a, double b) {
  double x = 1.0;
  for (int i = 0; i < 20; ++i) {
    if (x <= 0.0) throw DomainLeft(x);
    x -= (std::log(x) + a * x - b) / (1.0 / x + a);
  }
  return x;
}

static double damped(double a, double b) {
  double x = 1.0;
  for (int i = 0; i < 60; ++i) x *= std::exp(-(std::log(x) + a * x - b) / (1.0 + a * x));
  return x;
}

double balance(double a, double b) {
  try {
    return newton(a, b);
  } catch (const DomainLeft&) {
    return damped(a, b);
  }
}
