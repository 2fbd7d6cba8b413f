/* What the rules for GSL's solvers with callbacks share: vectors that they hand out, small linear systems, and steps of differences.
 *
 * Source: Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids" (1988), for the differences.
 */
#ifndef FFGRAD_RULES_GSL_NEWTON_H
#define FFGRAD_RULES_GSL_NEWTON_H
#include <ffgrad/rules/gsl_vector.h>
#include <math.h>
#include <stdlib.h>

static inline vector *new_vector(size_t n) {
  vector *v = malloc(sizeof(vector));
  *v = (vector){n, 1, calloc(n, sizeof(double)), NULL, 1};
  return v;
}
static inline void free_vector(vector *v) {
  free(v->data);
  free(v);
}

/* Differences of sixth order: the weight of the value at k steps from the middle, for k from -3 to 3, where the step is 1. */
static inline double difference_weight(int k) {
  static const double weight[] = {0, 45, -9, 1};
  return (k < 0 ? -weight[-k] : weight[k]) / 60;
}

/* Solves a system in place, by elimination with the largest pivot of each column. */
static inline void eliminate(size_t n, double *a, double *b) {
  for (size_t k = 0; k < n; k++) {
    size_t p = k;
    for (size_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[p * n + k])) p = i;
    for (size_t j = k; j < n && p != k; j++) {
      double kept = a[k * n + j];
      a[k * n + j] = a[p * n + j];
      a[p * n + j] = kept;
    }
    double kept = b[k];
    b[k] = b[p];
    b[p] = kept;
    for (size_t i = k + 1; i < n; i++) {
      double factor = a[i * n + k] / a[k * n + k];
      for (size_t j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; j++) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
}

/* Codes of GSL's. */
enum { SUCCESS = 0, CONTINUE = -2 };

#endif
