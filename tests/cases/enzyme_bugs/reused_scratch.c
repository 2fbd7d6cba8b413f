// A recurrence in scratch memory that a function and memset then use again. What the reverse sweep needs of it is what each iteration read.
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void halves(double *d, int n, const double *x) {
  for (int i = 0; i < n; i++) d[i] = x[i] * 0.5;
}

double reused_scratch(const double *x, int n) {
  double *d = malloc((n + 1) * sizeof(double)), *e = malloc((n + 1) * sizeof(double)), sum = 0;
  for (int i = 0; i < n; i++) {
    const double factor = i ? x[i] / d[i - 1] : 0;
    d[i] = 3 + x[i] * x[i] - (i ? factor * x[i - 1] : 0);
  }
  for (int i = 0; i < n; i++) e[i] = x[i] / d[i];
  halves(d, n, x);
  for (int i = 0; i < n; i++) sum += d[i] * (1 + i) + e[i] * e[i];

  for (int i = 0; i < n; i++) d[i] = 2 + (i ? x[i] / d[i - 1] : x[i]);
  for (int i = 0; i < n; i++) e[i] += x[i] * d[i];
  memset(d, 0, n * sizeof(double));
  for (int i = 0; i < n; i++) sum += d[i] + e[i] * e[i];
  free(d);
  free(e);
  return sum;
}
