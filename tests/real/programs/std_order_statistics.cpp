// Weighted quantiles of transformed measurements: std::stable_sort, which asks for memory without exceptions, and a table that is built once.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace {

const std::array<double, 8> &weights() {
  static const auto table = [] {
    std::array<double, 8> values{};
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 / (1.0 + std::cos(0.3 * double(i)));
    return values;
  }();
  return table;
}

struct Measurement {
  double key, value;
};

} // namespace

void order_statistics(const double *values, int n, double *result) {
  std::vector<Measurement> all;
  for (int i = 0; i < n; ++i) all.push_back({std::erf(values[i]), std::lgamma(2.5 + values[i])});
  std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.key < b.key; });
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += weights()[std::size_t(i) % weights().size()] * all[std::size_t(i)].value;
    result[i] = sum * all[std::size_t(i)].key;
  }
}
