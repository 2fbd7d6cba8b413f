// Pointers to rows, as C code has matrices.
#include <math.h>

double energy(double **a, int m, int n) {
  double sum = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) sum += (i + 1) * a[i][j] * a[i][j];
  return sum;
}

void sines(const double *const *a, double **b, int m, int n) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) b[i][j] = (i + 1) * sin(a[i][j]);
}
