#include <math.h>
#include <stdlib.h>
// A structure holds the address of a table of constants beside work memory, and goes to a function that stays one.
typedef struct {
  const double *k;
  double *w;
  int n;
} Data;

static const double rates[4] = {0.387, 0.873, 0.583, 0.904};

__attribute__((noinline)) static void phase(double e, Data *d) {
  for (int j = 0; j < d->n; j++) {
    d->w[j] = cos(d->k[j] * e);
    if (d->w[j] < 0) d->w[j] = d->w[j] * e;
  }
}

void mixed_table(const double *e, int m, double *out) {
  Data d = {rates, malloc(4 * sizeof(double)), 4};
  for (int i = 0; i < m; i++) {
    phase(e[i], &d);
    double s = 0;
    for (int j = 0; j < 4; j++) s += d.w[j];
    out[i] = s + d.w[i % 4] * e[i];
  }
  free(d.w);
}
