// Kernel density of points, in xtensor's broadcast expressions and views.
#include <array>
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

void density(const double* points, double width, double* result, int n) {
  const std::array<std::size_t, 1> shape{std::size_t(n)};
  const auto x = xt::adapt(points, std::size_t(n), xt::no_ownership(), shape);
  const xt::xtensor<double, 2> distance = (xt::view(x, xt::all(), xt::newaxis()) - xt::view(x, xt::newaxis(), xt::all())) / width;
  const xt::xtensor<double, 1> sums = xt::sum(xt::exp(-0.5 * xt::square(distance)), {1});
  for (int i = 0; i < n; ++i) result[i] = sums(i) / (n * width);
}
