// qsort of structures of an integer and a number, and of two integers and a number.
#include <stdlib.h>

struct pair { int place; double value; };
struct triple { int place, sign; double value; };

static int by_value(const void *a, const void *b) {
  double difference = ((const struct pair *)a)->value - ((const struct pair *)b)->value;
  return difference < 0 ? -1 : difference > 0;
}

static int by_sign(const void *a, const void *b) {
  const struct triple *one = a, *other = b;
  if (one->sign != other->sign) return one->sign - other->sign;
  return one->value < other->value ? 1 : one->value > other->value ? -1 : 0;
}

void sorted_records(const double *x, int n, double *y) {
  struct pair *pairs = malloc(n * sizeof *pairs);
  struct triple *triples = malloc(n * sizeof *triples);
  for (int i = 0; i < n; i++) {
    pairs[i] = (struct pair){i, x[i] * x[i]};
    triples[i] = (struct triple){i, x[i] > 0, x[i] * x[i] * x[i]};
  }
  qsort(pairs, n, sizeof *pairs, by_value);
  qsort(triples, n, sizeof *triples, by_sign);
  for (int i = 0; i < n; i++) {
    y[i] = (i + 1) * pairs[i].value * pairs[i].value + (pairs[i].place + 1) * triples[i].value;
    y[i] += triples[i].place * x[triples[i].place];
  }
  free(pairs);
  free(triples);
}
