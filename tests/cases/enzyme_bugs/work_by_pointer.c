// A work array from malloc, kept in a static pointer that grows with the size and is never freed; functions without arguments use it.
#include <stdlib.h>
static double *work;
static int capacity;

__attribute__((noinline)) static void reserve(int n) {
  if (n <= capacity) return;
  free(work);
  work = malloc(n * sizeof *work);
  capacity = n;
}

__attribute__((noinline)) static void sweep(int from) {
  for (int i = from; i < capacity; i++) work[i] = work[i] * work[i - 1] + 0.3 * work[i];
}

void work_by_pointer(const double *x, int n, double *y) {
  reserve(n);
  for (int i = 0; i < n; i++) work[i] = x[i] * x[i] + 0.5;
  sweep(1);
  sweep(2);
  for (int i = 0; i < n; i++) y[i] = work[i] + 0.001 * x[i];
}
