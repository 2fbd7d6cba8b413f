// Defaults without a signature: a pointer that is read and written is updated in place.
void logistic_map(double* u, int n) {
  for (int i = 0; i < n; i++)
    u[i] = 3.2 * u[i] * (1.0 - u[i]);
}
