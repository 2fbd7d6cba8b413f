// Two slots; the sign of the values selects the one that is replaced, so a later iteration overwrites what was read.
void toggle(const double *x, int n, double *y) {
  double q[2] = {1, 2};
  int k = 0;
  for (int i = 0; i < n; i++) {
    q[k] = q[1 - k] * x[i];
    if (x[i] < 0) k = 1 - k;
    y[i] = q[0] + q[1];
  }
}
