// By hand: each spring pulls at its two ends. dreturn is taken as 1.
#include <string.h>

#include "cloth.c"

double primal(const double* position, const double* stiffness, int m, int n) { return cloth(position, stiffness, m, n); }

static inline double pull(const double* a, const double* b, double rest, double stiffness, double* da, double* db) {
  const double x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
  const double length = sqrt(x * x + y * y + z * z), stretch = length - rest;
  const double force = stiffness * stretch / length;
  da[0] -= force * x;
  da[1] -= force * y;
  da[2] -= force * z;
  db[0] += force * x;
  db[1] += force * y;
  db[2] += force * z;
  return 0.5 * stretch * stretch;
}

void gradient(const double* restrict position, const double* restrict stiffness, int m, int n,
              double* restrict dposition, double* restrict dstiffness) {
  memset(dposition, 0, 3 * (size_t)m * n * sizeof(double));
  double along = 0.0, across = 0.0;
  for (int i = 0; i < m; i++) {
    const double* a = position + 3 * (size_t)i * n;
    double* da = dposition + 3 * (size_t)i * n;
    const int row = 3 * n;
    for (int j = 0; j < 3 * (n - 1); j += 3) along += pull(a + j, a + j + 3, 1.0, stiffness[0], da + j, da + j + 3);
    if (i + 1 == m) break;
    for (int j = 0; j < 3 * n; j += 3) along += pull(a + j, a + j + row, 1.0, stiffness[0], da + j, da + j + row);
    for (int j = 0; j < 3 * (n - 1); j += 3)
      across += pull(a + j, a + j + row + 3, 1.4142135623730951, stiffness[1], da + j, da + j + row + 3);
  }
  dstiffness[0] = along;
  dstiffness[1] = across;
}
