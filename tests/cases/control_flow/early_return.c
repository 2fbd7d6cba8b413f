// Early returns in a helper: a pair potential with a smooth cutoff.
static double pair(double r2) {
  if (r2 >= 4.0) return 0.0;
  double s = 1.0 - 0.25 * r2;
  if (r2 > 1.0) return s * s * s;
  return s * s * s + (1.0 - r2) * (1.0 - r2);
}

double cutoff_energy(const double* x, int n) {
  if (n < 2) return 0.0;
  double e = 0.0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) e += pair((x[i] - x[j]) * (x[i] - x[j]));
  return e;
}
