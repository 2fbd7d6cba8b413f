// The energy of a cloth: points on a grid, held together by springs along the grid and across its cells.
#include <math.h>

static double spring(const double* a, const double* b, double rest) {
  const double x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
  const double stretch = sqrt(x * x + y * y + z * z) - rest;
  return 0.5 * stretch * stretch;
}

double cloth(const double* position, const double* stiffness, int m, int n) {
  double along = 0.0, across = 0.0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      const double* a = position + 3 * (i * n + j);
      if (j + 1 < n) along += spring(a, a + 3, 1.0);
      if (i + 1 < m) along += spring(a, a + 3 * n, 1.0);
      if (i + 1 < m && j + 1 < n) across += spring(a, a + 3 * (n + 1), 1.4142135623730951);
    }
  return stiffness[0] * along + stiffness[1] * across;
}
