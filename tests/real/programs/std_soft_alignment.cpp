// Soft alignment of two series: a table of vectors of vectors and a recursive lambda.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

double soft_alignment(const double* a, const double* b, double gamma, int n, int m) {
  std::vector<std::vector<double>> table(n + 1, std::vector<double>(m + 1, 1e10));
  const auto soft_min = [gamma](double x, double y, double z) {
    const double least = std::min({x, y, z});
    return least - gamma * std::log(std::exp((least - x) / gamma) + std::exp((least - y) / gamma) + std::exp((least - z) / gamma));
  };
  table[0][0] = 0.0;
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= m; ++j) {
      const double d = a[i - 1] - b[j - 1];
      table[i][j] = d * d + soft_min(table[i - 1][j], table[i][j - 1], table[i - 1][j - 1]);
    }
  return table.back().back();
}

double adaptive_simpson(double a, double b, double width) {
  const auto f = [=](double x) { return std::exp(-x * x / width) * std::cos(3.0 * x); };
  const std::function<double(double, double, int)> integrate = [&](double from, double to, int depth) -> double {
    const double middle = 0.5 * (from + to), h = to - from;
    const double coarse = h / 6.0 * (f(from) + 4.0 * f(middle) + f(to));
    if (depth == 0) return coarse;
    return integrate(from, middle, depth - 1) + integrate(middle, to, depth - 1);
  };
  return integrate(a, b, 4);
}
