// The log likelihood of a Beta distribution and the volume of a ball: lgamma and tgamma, left and right of zero.
#include <math.h>

double likelihood(const double* x, double a, double b, int n, double* volume) {
  double sum = n * (lgamma(a + b) - lgamma(a) - lgamma(b));
  for (int i = 0; i < n; i++) {
    sum += (a - 1) * log(x[i]) + (b - 1) * log1p(-x[i]);
    volume[i] = pow(3.14159265358979323846, 3 * x[i]) / tgamma(3 * x[i] + 1) + lgamma(-0.5 - x[i]) + tgamma(-x[i]);
  }
  return sum;
}
