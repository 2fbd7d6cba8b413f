/* Sections, and what OpenMP orders: an `ordered` loop, locks, tasks. */
#include <math.h>
#include <omp.h>
void mixed(const double *x, int n, double *y) {
  double a = 0, b = 0, chain = 1;
#pragma omp parallel sections
  {
#pragma omp section
    for (int i = 0; i < n; i++) a += x[i] * x[i];
#pragma omp section
    for (int i = 0; i < n; i++) b += sin(x[i]);
  }
#pragma omp parallel for ordered
  for (int i = 0; i < n; i++) {
    double v = cos(x[i]);
#pragma omp ordered
    {
      chain = chain * 0.5 + v;
      y[i] = chain;
    }
  }
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    omp_set_lock(&lock);
    y[0] += a * x[i];
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
  y[1] += b * a;
}
