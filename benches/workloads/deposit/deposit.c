// Particles give their charge to the four nearest points of a grid, by their distance to each (cloud in cell).
void deposit(const double* position, const double* charge, int n, int m, double* density) {
  for (int c = 0; c < m * m; c++) density[c] = 0.0;
  for (int p = 0; p < n; p++) {
    const double x = position[2 * p], y = position[2 * p + 1];
    const int i = (int)x, j = (int)y;
    const double right = x - i, up = y - j;
    double* cell = density + j * m + i;
    cell[0] += charge[p] * (1.0 - right) * (1.0 - up);
    cell[1] += charge[p] * right * (1.0 - up);
    cell[m] += charge[p] * (1.0 - right) * up;
    cell[m + 1] += charge[p] * right * up;
  }
}
