/* Rosenbrock's valley in n dimensions: its minimum, 0, is at (1, ..., 1), at the end of a curved valley. */
double valley(const double* x, int n) {
  double sum = 0.0;
  for (int i = 0; i + 1 < n; i++) {
    double across = x[i + 1] - x[i] * x[i], along = 1.0 - x[i];
    sum += 100.0 * across * across + along * along;
  }
  return sum;
}
