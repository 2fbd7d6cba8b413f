// Functions whose parameters are containers, as most C++ code has them.
#include <array>
#include <cmath>
#include <span>
#include <vector>

double arc_length(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0.0;
  for (std::size_t i = 1; i < x.size(); ++i) sum += std::hypot(x[i] - x[i - 1], y[i] - y[i - 1]);
  return sum;
}

double triangle_area(const std::array<double, 6>& corners) {
  const auto [ax, ay, bx, by, cx, cy] = corners;
  return 0.5 * std::fabs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay));
}

double entropy(std::span<const double> p) {
  double total = 0.0, sum = 0.0;
  for (double v : p) total += v;
  for (double v : p) sum -= v / total * std::log(v / total);
  return sum;
}
