// Scaled dot products of queries with keys, their soft maxima over the keys and the spread of the answers: reductions that keep their
// dimension, and broadcasting of what they give.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>

double attention(const double *scores, const double *values, int m, int n, double temperature) {
  const std::vector<std::size_t> shape = {static_cast<std::size_t>(m), static_cast<std::size_t>(n)};
  const auto given = xt::adapt(scores, static_cast<std::size_t>(m) * n, xt::no_ownership(), shape);
  const xt::xarray<double> scaled = given / temperature;
  const xt::xarray<double> largest = xt::amax(scaled, {1}, xt::keep_dims);
  const xt::xarray<double> weights = xt::exp(scaled - largest);
  const xt::xarray<double> totals = xt::sum(weights, {1}, xt::keep_dims);

  xt::xtensor<double, 1> value = xt::zeros<double>({static_cast<std::size_t>(n)});
  std::copy(values, values + n, value.begin());
  const xt::xarray<double> answers = xt::sum(weights / totals * value, {1});
  return xt::mean(answers)() + 0.5 * xt::stddev(answers)();
}
