// Potentials x of a network: (1 + L) x = b with the Laplacian L of its conductances, by the method of conjugate gradients with a given
// number of iterations. An edge e leads from `ends[2 e]` to `ends[2 e + 1]`.
#include <stdlib.h>

static void apply(const double* conductance, const int* ends, int edges, const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = x[i];
  for (int e = 0; e < edges; e++) {
    const int i = ends[2 * e], j = ends[2 * e + 1];
    const double flow = conductance[e] * (x[i] - x[j]);
    y[i] += flow;
    y[j] -= flow;
  }
}

static double dot(const double* a, const double* b, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

void potentials(const double* conductance, const int* ends, int edges, const double* b, int n, int iterations,
                double* x) {
  double *r = malloc(n * sizeof(double)), *p = malloc(n * sizeof(double)), *q = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) {
    x[i] = 0.0;
    r[i] = p[i] = b[i];
  }
  double square = dot(r, r, n);
  for (int t = 0; t < iterations; t++) {
    apply(conductance, ends, edges, p, n, q);
    const double step = square / dot(p, q, n);
    for (int i = 0; i < n; i++) x[i] += step * p[i];
    for (int i = 0; i < n; i++) r[i] -= step * q[i];
    const double next = dot(r, r, n), turn = next / square;
    for (int i = 0; i < n; i++) p[i] = r[i] + turn * p[i];
    square = next;
  }
  free(q);
  free(p);
  free(r);
}
