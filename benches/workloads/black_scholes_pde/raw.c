// What a user of Enzyme alone writes: v and its shadow are updated in place, so both are copies.
#include <string.h>

#include "black_scholes_pde.c"

extern int enzyme_dup, enzyme_const;
void __enzyme_autodiff(void*, ...);

void gradient(const double* payoff, const double* volatility, double rate, double dt, int n, int steps,
              const double* dv, double* dpayoff, double* dvolatility) {
  double* v = malloc(n * sizeof(double));
  memcpy(v, payoff, n * sizeof(double));
  memcpy(dpayoff, dv, n * sizeof(double));
  memset(dvolatility, 0, n * sizeof(double));
  __enzyme_autodiff((void*)price, enzyme_dup, v, dpayoff, enzyme_dup, volatility, dvolatility, enzyme_const, rate,
                    enzyme_const, dt, enzyme_const, n, enzyme_const, steps);
  free(v);
}
