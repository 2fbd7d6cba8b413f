// Several outputs of different shapes, one of them a scalar behind a pointer.
void statistics(const double* x, const double* y, int n, double* total, double* product, double* outer) {
  *total = 0.0;
  for (int i = 0; i < n; i++) {
    product[i] = x[i] * y[i];
    *total += product[i] * product[i];
    for (int j = 0; j < n; j++) outer[i * n + j] = x[i] * y[j] * y[j];
  }
}
