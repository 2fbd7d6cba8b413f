// Monte-Carlo value of an Asian call plus a lookback put; every path has a linear congruential generator of its own.
#include <math.h>
#include <stdint.h>

static double uniform(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

// Box and Muller.
static double normal(uint64_t* state) {
  const double radius = sqrt(-2.0 * log(uniform(state)));
  return radius * cos(6.283185307179586 * uniform(state));
}

double value(double spot, double strike, double rate, double volatility, int paths, int steps) {
  const double dt = 1.0 / steps;
  double total = 0.0;
  for (int p = 0; p < paths; p++) {
    uint64_t state = (uint64_t)(p + 1) * 0x9E3779B97F4A7C15u;
    double s = spot, lowest = spot, sum = 0.0;
    for (int t = 0; t < steps; t++) {
      s *= exp((rate - 0.5 * volatility * volatility) * dt + volatility * sqrt(dt) * normal(&state));
      if (s < lowest) lowest = s;
      sum += s;
    }
    const double average = sum / steps;
    if (average > strike) total += average - strike;
    if (lowest < strike) total += strike - lowest;
  }
  return exp(-rate) * total / paths;
}
