// Photon counts above a threshold, by C++20's ranges and views.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>
#include <span>
#include <vector>

double deviance(const double* counts, const double* rate, int n) {
  const std::span<const double> all(counts, n);
  auto terms = std::views::iota(0, n) | std::views::filter([all](int i) { return all[i] > 0.5; }) |
               std::views::transform([=](int i) { return rate[i] - all[i] + all[i] * std::log(all[i] / rate[i]); });
  double sum = 0.0;
  for (double t : terms) sum += 2.0 * t;
  std::vector<double> sorted(rate, rate + n);
  std::ranges::sort(sorted);
  return sum + sorted.back() * sorted.front();
}
