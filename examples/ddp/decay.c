/* Radioactive chains: the amounts of two substances after some time, in small steps. */
#include <math.h>
void decay(const double *amounts, const double *rates, int n, double *left) {
  for (int i = 0; i < n; i++) {
    double a = amounts[2 * i], b = amounts[2 * i + 1];
    double fast = log1p(exp(rates[0])), slow = log1p(exp(rates[1]));
    for (int step = 0; step < 50; step++) {
      double moved = 0.02 * fast * a;
      b += moved - 0.02 * slow * b;
      a -= moved;
    }
    left[i] = a + 2 * b;
  }
}
