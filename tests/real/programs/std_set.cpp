// Mean spacing of distinct levels: a set of numbers in order, with those too close left out.
#include <cmath>
#include <iterator>
#include <set>

double spacing_ratio(const double* levels, int n) {
  std::set<double> distinct;
  for (int i = 0; i < n; ++i) {
    const auto above = distinct.lower_bound(levels[i] - 1e-3);
    if (above == distinct.end() || *above > levels[i] + 1e-3) distinct.insert(levels[i]);
  }
  double sum = 0.0;
  int count = 0;
  for (auto it = std::next(distinct.begin()); std::next(it) != distinct.end(); ++it, ++count) {
    const double below = *it - *std::prev(it), above = *std::next(it) - *it;
    sum += std::fmin(below, above) / std::fmax(below, above);
  }
  return sum / count;
}
