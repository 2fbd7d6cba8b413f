// Price of an Asian option by simulation with a fixed seed: <random>.
#include <cmath>
#include <random>

double asian_option(double spot, double volatility, double strike, int paths) {
  std::mt19937 generator(20240611);
  std::normal_distribution<double> normal(0.0, 1.0);
  const int steps = 8;
  const double dt = 1.0 / steps;
  double sum = 0.0;
  for (int p = 0; p < paths; ++p) {
    double price = spot, mean = 0.0;
    for (int s = 0; s < steps; ++s) {
      price *= std::exp(-0.5 * volatility * volatility * dt + volatility * std::sqrt(dt) * normal(generator));
      mean += price / steps;
    }
    if (mean > strike) sum += mean - strike;
  }
  return sum / paths;
}
