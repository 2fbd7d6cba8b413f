// Two loops read an array at both induction variables, with writes in between; then twice at every second element.
void couple(const double *x, int n, double *y) {
  for (int i = 0; i < n; i++) y[i] = x[i];
  double v = x[1];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      v *= y[i] * y[j];
      y[0] += v;
    }
  double a = 1.0, b = 1.0;
  for (int i = 0; i < n; i += 2) a += y[i] * y[i] * a;
  for (int i = 0; i < n; i += 2) b += y[i] * b;
  for (int i = 0; i < n; i++) y[i] = a * b * x[i];
}
