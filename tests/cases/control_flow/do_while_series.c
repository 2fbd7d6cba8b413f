// A do-while loop that leaves by break: the Bessel function J0 from its power series.
#include <math.h>

void bessel_j0(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    double term = 1.0, sum = 1.0;
    int k = 1;
    do {
      term *= -x[i] * x[i] / (4.0 * k * k);
      sum += term;
      if (k > 200) break;
      k++;
    } while (fabs(term) > 1e-17);
    y[i] = sum;
  }
}
