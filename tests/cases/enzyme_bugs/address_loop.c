// A recurrence over the addresses of an array: the number of iterations is a difference of addresses.
#include <math.h>

double address_loop(const double *q, int n, double x) {
  double s = x;
  for (const double *p = q; p < q + n; p++) s = sin(s) + *p * s;
  for (const double *p = q + n; p-- != q;) s += *p * *p * s;
  return s;
}
