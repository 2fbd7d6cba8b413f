// A basket's value by Monte Carlo with a fixed seed, a yield as a root of a cubic, and a rate's slope by differences.
#include <gsl/gsl_deriv.h>
#include <gsl/gsl_monte_plain.h>
#include <gsl/gsl_poly.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <cmath>

namespace {
struct Market {
  double spot, volatility, rate;
};
double discounted(double t, void* given) {
  const auto* m = static_cast<const Market*>(given);
  return m->spot * std::exp(-m->rate * t) * std::cos(m->volatility * t);
}
double payoff(double* x, size_t n, void* given) {
  const auto* m = static_cast<const Market*>(given);
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
  return m->spot * std::exp(-m->rate * sum) + m->volatility * x[0];
}
}  // namespace

void basket(const double* x, double* y) {
  Market market{x[0], x[1], x[2]};
  gsl_rng* r = gsl_rng_alloc(gsl_rng_mt19937);
  gsl_rng_set(r, 42);
  double sum = 0;
  for (int path = 0; path < 30; path++) {
    double s = market.spot;
    for (int step = 0; step < 4; step++) s *= std::exp(market.rate - 0.5 * market.volatility * market.volatility + gsl_ran_gaussian(r, market.volatility));
    sum += std::fmax(s - 0.9, 0.0);
  }
  y[0] = sum / 30;
  double low[2] = {0, 0}, high[2] = {1, market.spot}, error;
  gsl_monte_function f = {payoff, 2, &market};
  gsl_monte_plain_state* state = gsl_monte_plain_alloc(2);
  gsl_monte_plain_integrate(&f, low, high, 2, 50, r, state, &y[1], &error);
  gsl_monte_plain_free(state);
  gsl_rng_free(r);
  double root[3];
  gsl_poly_solve_cubic(market.volatility, market.rate, -market.spot, &root[0], &root[1], &root[2]);
  y[2] = root[0];
  gsl_function g = {discounted, &market};
  gsl_deriv_central(&g, 1.0, 1e-2, &y[3], &error);
}
