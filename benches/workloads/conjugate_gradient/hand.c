// By hand: the implicit function theorem. The matrix is its own transpose, so the adjoint is solved for with the same iteration, started
// from nothing: a = (1 + L)^-1 dx is the gradient of b, and that of a conductance is minus the product of the two differences.
#include "conjugate_gradient.c"

void primal(const double* conductance, const int* ends, const double* b, int edges, int n, int iterations, double* x) {
  potentials(conductance, ends, edges, b, n, iterations, x);
}

void gradient(const double* restrict conductance, const int* restrict ends, const double* restrict b, int edges, int n,
              int iterations, const double* restrict dx, double* restrict dconductance, double* restrict db) {
  double* x = malloc(n * sizeof(double));
  potentials(conductance, ends, edges, b, n, iterations, x);
  potentials(conductance, ends, edges, dx, n, iterations, db);
  for (int e = 0; e < edges; e++) {
    const int i = ends[2 * e], j = ends[2 * e + 1];
    dconductance[e] = -(db[i] - db[j]) * (x[i] - x[j]);
  }
  free(x);
}
