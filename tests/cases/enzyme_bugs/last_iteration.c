// Each iteration writes the same elements, from a value that two loops carry: only the last iteration's writes remain.
void drive(const double *x, int n, double *y) {
  double force = 0.4, bend[36];
  for (int i = 0; i < 36; i++) bend[i] = x[i % n];
  for (int i = 1; i < n; i += 2) {
    for (int pass = 0; pass < n; pass += 3)
      for (int k = 1; k < 5; k++) {
        y[k] = x[k] * y[0];
        bend[k] = bend[k * k];
        y[0] = force;
      }
    force = 0.9 * force * force;
  }
}
