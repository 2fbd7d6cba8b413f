// Defaults without a signature: two read-only pointers are inputs, the written one is the output.
void blend(const double* x, const double* y, int n, double* out) {
  for (int i = 0; i < n; i++)
    out[i] = x[i] * y[i] + x[i] * x[i] - 0.5 * y[i];
}
