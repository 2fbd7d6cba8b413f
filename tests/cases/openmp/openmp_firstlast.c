/* firstprivate and lastprivate scalars and a private array. */
#include <math.h>
void damped(const double *x, int n, double *y) {
  double scale = x[0] * 0.5, last = 0, table[3] = {x[1], 2.0, x[2]};
  int shift = n / 2;
#pragma omp parallel for firstprivate(scale, shift, table) lastprivate(last)
  for (int i = 0; i < n; i++) {
    double *own = table;
    last = own[i % 3] * scale * x[(i + shift) % n];
    y[i] = last * cos(last);
  }
  y[0] += last * last;
}
