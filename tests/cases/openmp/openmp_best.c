/* The largest value and where it was, kept under a critical section: who came last matters to the reverse. */
#include <math.h>
double best_product(const double *x, const double *w, int n) {
  double best = -1e30, weight = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double v = sin(x[i]) * x[i];
#pragma omp critical(best)
    if (v > best) {
      best = v;
      weight = w[i];
    }
  }
  return best * weight;
}
