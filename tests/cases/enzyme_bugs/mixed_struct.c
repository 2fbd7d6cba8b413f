// A struct has the address of a constant input next to work memory, and is passed to a function that is not inlined.
#include <math.h>
#include <stdlib.h>
typedef struct {
  const double *k;
  double *w;
} Data;

__attribute__((noinline)) static void phase(double e, Data *d, int n) {
  for (int j = 0; j < n; j++) d->w[j] = cos(d->k[j] * e) * e;
}

void spectrum(const double *e, int m, const double *k, int n, double *out) {
  Data d = {k, malloc(n * sizeof(double))};
  for (int i = 0; i < m; i++) {
    phase(e[i], &d, n);
    double s = 0;
    for (int j = 0; j < n; j++) s += d.w[j];
    out[i] = s + e[i] * e[i];
  }
  free(d.w);
}
