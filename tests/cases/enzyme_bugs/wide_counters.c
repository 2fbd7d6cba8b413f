/* A loop that an integer of 128 bits counts, as the differences of the widest integers do in C++'s ranges. Enzyme crashed. */
void weighs(const double *x, int n, double *y) {
  double s = 0;
  for (__int128 i = 0; i < n; i++) {
    s += x[(long)i] * x[(long)(n - 1 - i)] * (double)(long)(i * i);
    y[(long)i] = s * x[(long)i];
  }
}
