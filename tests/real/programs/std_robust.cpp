// Robust statistics by nth_element, and a rank statistic by stable_sort of indices.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

static double median(std::vector<double> x) {
  auto middle = x.begin() + x.size() / 2;
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

double median_deviation(const double* x, int n) {
  const double centre = median({x, x + n});
  std::vector<double> deviations;
  for (int i = 0; i < n; ++i) deviations.push_back(std::fabs(x[i] - centre));
  return 1.4826 * median(deviations) + centre;
}

double l_moment(const double* x, int n) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [x](int a, int b) { return x[a] < x[b]; });
  double sum = 0.0;
  for (int rank = 0; rank < n; ++rank) sum += (2.0 * rank - n + 1.0) * x[order[rank]] * x[order[rank]];
  return sum / (n * (n - 1.0));
}
