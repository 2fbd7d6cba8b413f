// Values sorted by qsort; the rule's derivative sends each value's back to where it came from.
#include <ffgrad/derivatives.h>
#include <stdlib.h>

typedef struct {
  double value;
  int from;
} item;
static int compare(const void* a, const void* b) {
  double x = ((const item*)a)->value, y = ((const item*)b)->value;
  return (x > y) - (x < y);
}
static item* order(const double* x, int n) {
  item* items = malloc(n * sizeof(item));
  for (int i = 0; i < n; i++) items[i] = (item){x[i], i};
  qsort(items, n, sizeof(item), compare);
  return items;
}

void sorted(const double* x, double* y, int n) {
  item* items = order(x, n);
  for (int i = 0; i < n; i++) y[i] = items[i].value;
  free(items);
}
void sorted_fwd(const double* x, const double* dx, double* y, double* dy, int n) {
  item* items = order(x, n);
  for (int i = 0; i < n; i++) {
    y[i] = items[i].value;
    dy[i] = dx ? dx[items[i].from] : 0;
  }
  free(items);
}
void sorted_rev(const double* x, double* dx, double* y, double* dy, int n) {
  item* items = order(x, n);
  for (int i = 0; i < n; i++) {
    if (dx) dx[items[i].from] += dy[i];
    dy[i] = 0;
  }
  free(items);
}
FFGRAD_DERIVATIVES(sorted, sorted_fwd, sorted_rev);

double gini(const double* x, int n, double* y) {
  double weighted = 0, sum = 0;
  sorted(x, y, n);
  for (int i = 0; i < n; i++) {
    weighted += (2 * i - n + 1) * y[i];
    sum += y[i];
  }
  return weighted / (n * sum);
}
