// Loop-carried values that are replaced or divided, and used in every iteration: a running maximum, the last positive value, a series.
void follow(const double *x, int n, double *y) {
  double most = x[0], last = x[1], share = x[2];
  for (int i = 0; i < n; i++) {
    most = x[i] > most ? x[i] : most;
    if (x[i] > 0.0) last = x[i] * x[i];
    share = share / 2.5;
    y[i] = most * x[0] + last + share * x[i];
  }
}
