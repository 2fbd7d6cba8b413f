// A while loop whose trip count depends on the data: the arithmetic-geometric mean.
#include <math.h>

void agm(const double* a, const double* b, int n, double* m) {
  for (int i = 0; i < n; i++) {
    double p = a[i], q = b[i];
    while (fabs(p - q) > 1e-13 * p) {
      double mean = 0.5 * (p + q);
      q = sqrt(p * q);
      p = mean;
    }
    m[i] = p;
  }
}
