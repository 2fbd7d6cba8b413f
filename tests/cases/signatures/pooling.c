// Dimension expressions with // and *: pairs in, their product and ratio out.
void pool(const double* x, int n, double* half, double* twice) {
  for (int i = 0; i + 1 < n; i += 2) half[i / 2] = x[i] * x[i + 1];
  for (int i = 0; i < n; i++) {
    twice[2 * i] = x[i] * x[i];
    twice[2 * i + 1] = 1.0 / x[i];
  }
}
