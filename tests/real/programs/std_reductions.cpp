// Portfolio risk by the algorithms of <numeric>.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

double risk_adjusted_return(const double* weights, const double* returns, int n, int days) {
  std::vector<double> w(weights, weights + n);
  const double total = std::accumulate(w.begin(), w.end(), 0.0);
  std::for_each(w.begin(), w.end(), [total](double& v) { v /= total; });
  std::vector<double> daily(days);
  for (int d = 0; d < days; ++d) daily[d] = std::inner_product(w.begin(), w.end(), returns + d * n, 0.0);
  const double mean = std::reduce(daily.begin(), daily.end()) / days;
  const double variance = std::transform_reduce(daily.begin(), daily.end(), 0.0, std::plus<>(),
                                                [mean](double r) { return (r - mean) * (r - mean); });
  std::vector<double> moves(days);
  std::adjacent_difference(daily.begin(), daily.end(), moves.begin());
  return mean / std::sqrt(variance / days) + 0.1 * *std::max_element(moves.begin(), moves.end());
}
