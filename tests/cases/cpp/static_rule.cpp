// A quadrature rule that the first call constructs, a static const object with a vector and a destructor, beside complex functions with rules.
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

class MidpointRule {
  std::vector<std::pair<double, double>> nodes_;

 public:
  explicit MidpointRule(int n) {
    for (int i = 0; i < n; ++i) nodes_.emplace_back((i + 0.5) / n, 1.0 / n);
  }
  template <class F>
  double integrate(F&& f) const {
    double sum = 0;
    for (auto [x, w] : nodes_) sum += w * f(x);
    return sum;
  }
};

class Response {
  double damping_, frequency_;

 public:
  Response(double damping, double frequency) : damping_(damping), frequency_(frequency) {}
  std::complex<double> at(double t) const {
    const std::complex<double> root = std::sqrt(std::complex<double>(damping_, t));
    return std::log(root + frequency_) / root;
  }
  double mean() const {
    static const MidpointRule rule(12);
    return rule.integrate([this](double t) { return std::real(at(t)); });
  }
};

double static_rule(const double* x, int n) {
  std::vector<double> means;
  for (int i = 0; i + 1 < n; ++i) means.push_back(Response(x[i], x[i + 1]).mean());
  double sum = 0;
  for (double mean : means) sum += mean * mean;
  return sum;
}
