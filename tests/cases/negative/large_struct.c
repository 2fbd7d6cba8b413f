// Copies a struct of half a million numbers of two types: type analysis takes minutes.
struct large {
  double a[60000];
  long b[60000];
  const char *name;
};

static const struct large table[4] = {{{1.0, 2.0}, {1, 2}, "first"}};

void look_up(const double* x, int n, double* y) {
  struct large own;
  for (int i = 0; i < n; i++) {
    own = table[i & 3];
    own.a[i] = x[i];
    struct large copy = own;
    y[i] = copy.a[(7 * i) % 60000] * x[i] + copy.b[i & 1];
  }
}
