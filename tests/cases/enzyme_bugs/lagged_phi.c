// First-order recurrences: the value of the second-to-last iteration is used after two loops, as is a value computed from it.
#include <math.h>
void recall(const double *x, int n, double *y) {
  double before = x[0], now = 0.5, share = x[1] * x[2], older = x[2];
  for (int i = 0; i < n; i += 2)
    for (int j = n - 1; j >= 0; j -= 3) {
      share = share * 0.7;
      older = before * x[j];
      before = now;
      now = sin(x[1] * log(1.1 + share * share));
    }
  for (int i = 0; i < n; i++) y[i] = before * x[i] + share + now * now + older * older * x[i];
}
