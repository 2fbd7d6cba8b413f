// An output array and a returned value together.
double normalise(const double* x, int n, double* y) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += x[i];
  for (int i = 0; i < n; i++) y[i] = x[i] / sum;
  return sum * sum;
}
