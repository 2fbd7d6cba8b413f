// Two branches compute the same function of their loads; one loads from memory that each iteration writes.
#include <math.h>
#include <stdlib.h>
static double level(double x) { return log(1.1 + x * x); }
void average(const double *x, int n, double *y) {
  double *t = malloc(5 * sizeof *t);
  for (int i = 0; i < 5; i++) t[i] = x[i];
  for (int i = 0; i < n; i++) y[i] = x[i];
  for (int i = 0; i < n; i++) {
    t[0] *= -0.5;
    y[3] = y[3] * 0.7 + (9 < x[1] ? level(x[0]) : level(t[i % 5]));
  }
  free(t);
}
