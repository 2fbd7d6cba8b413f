// A root found by the secant method; each step goes to a JSON log that is kept as text.
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

double secant_root(double a, double b) {
  auto f = [=](double x) { return std::exp(a * x) - b - x; };
  double x0 = 0.0, x1 = 3.0;
  nlohmann::json log = nlohmann::json::array();
  for (int i = 0; i < 12 && std::fabs(f(x1)) > 1e-15; ++i) {
    const double x2 = x1 - f(x1) * (x1 - x0) / (f(x1) - f(x0));
    log.push_back({{"step", i}, {"x", x2}});
    x0 = x1;
    x1 = x2;
  }
  const std::string text = log.dump();
  return text.empty() ? 0.0 : x1;
}
