// Weighted quantile and Gini coefficient: records that are sorted, and running sums of them.
#include <algorithm>
#include <numeric>
#include <vector>

struct Observation {
  double value;
  double weight;
  int index;
};

static std::vector<Observation> sorted(const double* value, const double* weight, int n) {
  std::vector<Observation> all;
  for (int i = 0; i < n; ++i) all.push_back({value[i], weight[i], i});
  std::sort(all.begin(), all.end(), [](const Observation& a, const Observation& b) { return a.value < b.value; });
  return all;
}

double weighted_quantile(const double* value, const double* weight, int n) {
  const auto all = sorted(value, weight, n);
  double total = 0.0;
  for (const auto& o : all) total += o.weight;
  double before = 0.0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const double after = before + all[i].weight;
    if (after >= 0.6 * total) {
      const double share = (0.6 * total - before) / all[i].weight;
      return all[i].value + share * (all[i + 1].value - all[i].value);
    }
    before = after;
  }
  return all.back().value;
}

double gini(const double* value, const double* weight, int n) {
  auto all = sorted(value, weight, n);
  std::vector<double> wealth(all.size());
  std::transform(all.begin(), all.end(), wealth.begin(), [](const Observation& o) { return o.value * o.weight; });
  std::partial_sum(wealth.begin(), wealth.end(), wealth.begin());
  double area = 0.0, total = 0.0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    area += all[i].weight * (wealth[i] + (i ? wealth[i - 1] : 0.0));
    total += all[i].weight;
  }
  return 1.0 - area / (total * wealth.back());
}
