// Quicksort with one recursive call in a loop: the exit values of the inner loops are used after them.
#include <math.h>
#include <stdlib.h>
#include <string.h>
static void sort(double *a, int lo, int hi) {
  while (lo < hi) {
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
    if (lo < j) sort(a, lo, j);
    lo = i;
  }
}

void order(const double *x, int n, double *y) {
  double *a = malloc(n * sizeof(double));
  memcpy(a, x, n * sizeof(double));
  sort(a, 0, n - 1);
  for (int i = 0; i < n; i++) y[i] = sin(a[i]) * (i + 1);
  free(a);
}
