// One-dimensional advection with an upwind scheme, in views of a fixed-rank tensor.
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

double transported(const double* u, double speed, int n) {
  xt::xtensor<double, 1> now = xt::zeros<double>({std::size_t(n)});
  for (int i = 0; i < n; ++i) now(i) = u[i];
  for (int step = 0; step < 5; ++step) {
    const xt::xtensor<double, 1> flux = speed * now * (1.0 - 0.2 * now);
    xt::view(now, xt::range(1, n)) -= xt::view(flux, xt::range(1, n)) - xt::view(flux, xt::range(0, n - 1));
  }
  const xt::xtensor<double, 1> place = xt::linspace<double>(0.0, 1.0, n);
  return xt::sum(now * place)() + xt::amax(now)();
}
