// By hand: each particle gathers from its four points.
#include "deposit.c"

void primal(const double* position, const double* charge, int n, int m, double* density) {
  deposit(position, charge, n, m, density);
}

void gradient(const double* restrict position, const double* restrict charge, int n, int m,
              const double* restrict ddensity, double* restrict dposition, double* restrict dcharge) {
  for (int p = 0; p < n; p++) {
    const double x = position[2 * p], y = position[2 * p + 1];
    const int i = (int)x, j = (int)y;
    const double right = x - i, up = y - j;
    const double* cell = ddensity + j * m + i;
    const double below = cell[0] + right * (cell[1] - cell[0]);
    const double above = cell[m] + right * (cell[m + 1] - cell[m]);
    dcharge[p] = below + up * (above - below);
    dposition[2 * p] = charge[p] * ((1.0 - up) * (cell[1] - cell[0]) + up * (cell[m + 1] - cell[m]));
    dposition[2 * p + 1] = charge[p] * (above - below);
  }
}
