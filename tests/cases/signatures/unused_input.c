// An input that does not matter: its gradient is zero, not missing.
double first_only(const double* x, const double* y, int n) {
  double s = 0.0;
  for (int i = 0; i < n; i++) s += x[i] * x[i] + 0.0 * y[i];
  return s;
}
