/* Reductions whose reverse needs the order of the threads (product, largest, smallest) and one that does not. */
#include <math.h>
void statistics(const double *x, int n, double *sum, double *product, double *largest, double *smallest) {
  double s = 0.5, p = 1.5, most = -1e30, least = 1e30;
#pragma omp parallel for reduction(+ : s) reduction(* : p) reduction(max : most) reduction(min : least)
  for (int i = 0; i < n; i++) {
    double v = x[i] * x[i] + sin(x[i]);
    s += v;
    p *= 1 + 0.1 * x[i];
    most = fmax(most, v);
    if (v < least) least = v;
  }
  *sum = s;
  *product = p;
  *largest = most;
  *smallest = least;
}
