// Structures in C: by pointer and by value, named by a tag or by a typedef.
#include <math.h>

typedef struct {
  double rate;
  double bounds[2];
} Options;

struct grid {
  const double *x;
  int n;
  Options inner;
};

struct node {
  double value;
  struct node *next;
};

double decay(const struct grid *g, Options o) {
  double sum = 0;
  for (int i = 0; i < g->n; i++) sum += exp(-o.rate * g->x[i]) * g->inner.rate + g->inner.bounds[1] * o.bounds[0];
  return sum;
}

double listed(const struct node *first) { return first->value; }
