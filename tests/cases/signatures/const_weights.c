// An input declared const in the signature gets no gradient.
double weighted_loss(const double* w, const double* x, const double* target, int n) {
  double s = 0.0;
  for (int i = 0; i < n; i++) s += w[i] * (x[i] - target[i]) * (x[i] - target[i]);
  return s;
}
