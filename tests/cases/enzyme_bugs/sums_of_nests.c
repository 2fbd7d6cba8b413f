// Two nests of loops read the rows of a small matrix, which a loop around them overwrites.
void sums_of_nests(const double *x, int n, double *y) {
  double a[4][4] = {{0}};
  for (int e = 0; e < n; e++) {
    double twice = 0, total = 0;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) a[i][j] = 0.5 * a[j][i] + x[e] * x[(e + i + 2 * j) % n];
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) twice += a[i][j] * a[j][i];
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) total += a[i][j] * a[j][(i + 1) % 4];
    y[e] = total + 0.1 * twice * total;
  }
}
