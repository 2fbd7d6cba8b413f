// A stack array of rows, as long as the input: two loops read it, with writes in between.
double weigh(const double *x, int n) {
  double rows[n][2];
  for (int i = 0; i < n; i++) {
    rows[i][0] = x[i];
    rows[i][1] = x[i] * x[i];
  }
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += x[i] * rows[i][0];
  rows[n / 2][0] = x[0];
  for (int i = 0; i < n; i++) sum += x[i] * rows[i][0] * rows[i][1];
  return sum;
}
