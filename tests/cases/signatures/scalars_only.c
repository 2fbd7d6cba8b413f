// No arrays at all: scalars in, scalar out (the Black-Scholes call price).
#include <math.h>

static double phi(double d) { return 0.5 * erfc(-d * 0.7071067811865476); }

double call_price(double spot, double strike, double rate, double sigma, double years) {
  double s = sigma * sqrt(years);
  double d1 = (log(spot / strike) + (rate + 0.5 * sigma * sigma) * years) / s;
  return spot * phi(d1) - strike * exp(-rate * years) * phi(d1 - s);
}
