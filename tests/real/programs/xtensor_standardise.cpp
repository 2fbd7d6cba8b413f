// Columns of a table standardised, by xtensor's reducers over an axis.
#include <algorithm>
#include <vector>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xmath.hpp>

void standardise(const double* table, double* result, int rows, int cols) {
  const std::vector<std::size_t> shape{std::size_t(rows), std::size_t(cols)};
  const xt::xarray<double> x = xt::adapt(table, std::size_t(rows) * cols, xt::no_ownership(), shape);
  const xt::xarray<double> mean = xt::mean(x, {0});
  const xt::xarray<double> centred = x - mean;
  const xt::xarray<double> deviation = xt::sqrt(xt::mean(xt::square(centred), {0}) + 1e-3);
  const xt::xarray<double> scaled = centred / deviation;
  std::copy(scaled.begin(), scaled.end(), result);
}
