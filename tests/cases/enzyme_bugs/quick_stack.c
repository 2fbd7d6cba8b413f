// Quicksort with an explicit stack of bounds: integers that are read, and overwritten in a later iteration.
#include <math.h>
#include <string.h>
void order(const double *x, int n, double *y) {
  double a[64];
  int bounds[64], top = 0;
  memcpy(a, x, n * sizeof(double));
  bounds[top++] = 0;
  bounds[top++] = n - 1;
  while (top > 0) {
    int hi = bounds[--top], lo = bounds[--top];
    if (lo >= hi) continue;
    int i = lo, j = hi;
    double p = a[(lo + hi) / 2];
    while (i <= j) {
      while (a[i] < p) i++;
      while (a[j] > p) j--;
      if (i <= j) {
        double t = a[i];
        a[i++] = a[j];
        a[j--] = t;
      }
    }
    bounds[top++] = lo;
    bounds[top++] = j;
    bounds[top++] = i;
    bounds[top++] = hi;
  }
  for (int i = 0; i < n; i++) y[i] = sin(a[i]) * (i + 1);
}
