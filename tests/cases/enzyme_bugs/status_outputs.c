#include <math.h>
// Each call returns a status and writes its results. The address of a table is stored, so Enzyme compares addresses with those of shadows.
typedef struct {
  const double *rates;
  int n;
} Table;

static const double early[3] = {0.5, 0.25, 0.125}, late[2] = {0.75, 1.5};

__attribute__((noinline)) static void find(double x, Table *t) {
  t->rates = x < 10 ? early : late;
  t->n = x < 10 ? 3 : 2;
}

__attribute__((noinline)) static int growth(double x, double *value, double *slope) {
  Table t;
  find(x, &t);
  if (x < -100) return -1;
  double sum = 0;
  for (int i = 0; i < t.n; i++) sum += t.rates[i] * pow(x, i);
  *value = sum * sin(x);
  *slope = sum * x;
  return 0;
}

int status_outputs(double x, double *out) {
  double a, b, c, d;
  int status = growth(x, &a, &b);
  if (status < 0) return -1;
  status = growth(x + a * a, &c, &d);
  if (status < 0) return -1;
  out[0] = a * c;
  out[1] = b * d;
  return 0;
}
