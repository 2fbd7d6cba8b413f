// Uses a built-in of the compiler that has no derivative.
void canonical(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = __builtin_canonicalize(x[i]) * x[i];
}
