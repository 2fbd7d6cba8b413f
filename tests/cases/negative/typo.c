// Asked for by a wrong name ("simualte"): the answer should offer the closest ones.
void simulate(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i];
}

void simulate_backwards(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = x[n - 1 - i] * x[i];
}

double stimulus(const double* x, int n) {
  return n ? x[0] : 0.0;
}
