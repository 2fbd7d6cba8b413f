// Two slots, of which the sign of the values picks the one that is replaced: what is read is overwritten in a later iteration.
void toggle(const double *x, int n, double *y) {
  double q[2] = {1, 2};
  int k = 0;
  for (int i = 0; i < n; i++) {
    q[k] = q[1 - k] * x[i];
    if (x[i] < 0) k = 1 - k;
    y[i] = q[0] + q[1];
  }
}
