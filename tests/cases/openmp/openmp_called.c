/* Functions that share out work themselves, and helpers called from inside of a region; a condition on the region. */
#include <math.h>
static double bend(double x, int depth) { return depth == 0 ? sin(x) : x * bend(0.5 * x, depth - 1); }
static void fill(const double *x, int n, double *y) {
#pragma omp for schedule(dynamic)
  for (int i = 0; i < n; i++) y[i] = bend(x[i], i % 3);
}
static void scale(double by, int n, double *y) {
#pragma omp for simd
  for (int i = 0; i < n; i++) y[i] *= by;
}
void called(const double *x, double by, int n, double *y) {
#pragma omp parallel if (n > 4)
  {
    fill(x, n, y);
    scale(by, n, y);
  }
#pragma omp parallel for collapse(2) num_threads(2) if (n > 4)
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < n / 2; j++) y[i * (n / 2) + j] += x[j] * x[i];
#pragma omp simd
  for (int i = 0; i < n; i++) y[i] += 0.5 * x[i] * x[i];
}
