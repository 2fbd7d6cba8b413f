/* frexp and ldexp in three precisions: the exponent is a constant, the fraction the number times a power of two. */
#include <math.h>

void exponents(const double *x, double *y, int n) {
  for (int i = 0; i < n; i++) {
    int e, narrow, wide;
    double fraction = frexp(x[i], &e);
    float less = frexpf((float)x[i], &narrow);
    long double more = frexpl((long double)x[i], &wide);
    y[i] = fraction * fraction * e + ldexp(x[i], narrow) + (double)(more * more) * wide + 0 * less;
  }
}
