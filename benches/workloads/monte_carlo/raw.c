// What a user of Enzyme alone writes.
#include "monte_carlo.c"

extern int enzyme_out, enzyme_const;
struct Gradient {
  double spot, strike, rate, volatility;
};
struct Gradient __enzyme_autodiff(void*, ...);

void gradient(double spot, double strike, double rate, double volatility, int paths, int steps, double* dspot,
              double* dstrike, double* drate, double* dvolatility) {
  const struct Gradient g = __enzyme_autodiff((void*)value, enzyme_out, spot, enzyme_out, strike, enzyme_out, rate,
                                              enzyme_out, volatility, enzyme_const, paths, enzyme_const, steps);
  *dspot = g.spot;
  *dstrike = g.strike;
  *drate = g.rate;
  *dvolatility = g.volatility;
}
