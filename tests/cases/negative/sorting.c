// Sorts with qsort, whose body is in the C library.
#include <stdlib.h>

static int compare(const void* a, const void* b) {
  double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

void sorted_squares(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i];
  qsort(y, n, sizeof *y, compare);
}
