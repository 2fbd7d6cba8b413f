// Quadrature that halves intervals of a work list where the values vary; growing the list moves its pairs.
#include <cmath>
#include <utility>
#include <vector>
static double g(double a, double v) { return std::sin(a * v) + a * a; }

void integrate(const double *x, int n, double *y) {
  for (int i = 0; i < n; i++) {
    std::vector<std::pair<double, double>> open;
    open.push_back({0.0, 1.0 + x[i] * x[i] * 0.1});
    double sum = 0;
    while (!open.empty()) {
      auto [a, b] = open.back();
      open.pop_back();
      double m = 0.5 * (a + b);
      double one = (b - a) * 0.5 * (g(a, x[i]) + g(b, x[i]));
      double two = (b - a) * 0.25 * (g(a, x[i]) + 2 * g(m, x[i]) + g(b, x[i]));
      if (std::fabs(one - two) < 1e-2) {
        sum += two;
      } else {
        open.push_back({a, m});
        open.push_back({m, b});
      }
    }
    y[i] = sum;
  }
}
