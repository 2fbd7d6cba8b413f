// By hand: pathwise derivatives. A price is spot exp(r t - v^2 t / 2 + v w), so its derivatives follow from (t, w) at the
// times that count; nothing is stored. All four gradients in one pass.
#include "monte_carlo.c"

double primal(double spot, double strike, double rate, double volatility, int paths, int steps) {
  return value(spot, strike, rate, volatility, paths, steps);
}

void gradient(double spot, double strike, double rate, double volatility, int paths, int steps, double* dspot,
              double* dstrike, double* drate, double* dvolatility) {
  const double dt = 1.0 / steps, root = sqrt(dt);
  const double drift = (rate - 0.5 * volatility * volatility) * dt;
  double total = 0.0, by_spot = 0.0, by_strike = 0.0, by_rate = 0.0, by_volatility = 0.0;
  for (int p = 0; p < paths; p++) {
    uint64_t state = (uint64_t)(p + 1) * 0x9E3779B97F4A7C15u;
    double s = spot, w = 0.0, lowest = spot, low_time = 0.0, low_w = 0.0;
    double sum = 0.0, sum_rate = 0.0, sum_volatility = 0.0;
    for (int t = 0; t < steps; t++) {
      const double dw = root * normal(&state);
      s *= exp(drift + volatility * dw);
      w += dw;
      const double time = (t + 1) * dt;
      if (s < lowest) lowest = s, low_time = time, low_w = w;
      sum += s;
      sum_rate += s * time;
      sum_volatility += s * (w - volatility * time);
    }
    const double average = sum * dt;
    if (average > strike) {
      total += average - strike;
      by_spot += average / spot;
      by_strike -= 1.0;
      by_rate += sum_rate * dt;
      by_volatility += sum_volatility * dt;
    }
    if (lowest < strike) {
      total += strike - lowest;
      by_spot -= lowest / spot;
      by_strike += 1.0;
      by_rate -= lowest * low_time;
      by_volatility -= lowest * (low_w - volatility * low_time);
    }
  }
  const double discount = exp(-rate) / paths;
  *dspot = discount * by_spot;
  *dstrike = discount * by_strike;
  *drate = discount * (by_rate - total);
  *dvolatility = discount * by_volatility;
}
