// An angle reduced by remquo to the nearest quarter of a turn, as geodesic codes do; the quotient chooses the function.
#include <math.h>

void reduced(const double *x, int n, double quarter, double *y) {
  for (int i = 0; i < n; i++) {
    int q;
    double r = remquo(x[i] * x[i] * 100, quarter, &q);
    y[i] = (q & 1 ? cos(r) : sin(r)) + r * quarter;
  }
}
