/* A packed matrix, read by columns in one round and written by rows in the next: the two access patterns are in branches of one loop, and of their
   positions LLVM cannot say which comes first. Enzyme crashed. */
void walks(const double *x, int n, double *y) {
  double p[64], s = 0;
  for (int i = 0; i < 64; i++) p[i] = x[i % n];
  for (int round = 0; round < 4; round++) {
    if (round % 2) {
      int first = 0;
      for (int j = 0; j < n; j++) {
        int at = first;
        for (int i = j; i < n; i++) s += p[at++] * x[i];
        first += n - j;
      }
    } else {
      int at = 0;
      for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++) p[at++] += 0.1 * s * x[j];
    }
  }
  for (int i = 0; i < n; i++) y[i] = s * p[i];
}
