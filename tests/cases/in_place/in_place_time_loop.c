// In place over many steps: the buffer is overwritten in each one. `steps` comes from sizes={}.
void burgers(double* u, double nu, int n, int steps) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      u[i] += 0.05 * (nu * (u[i - 1] - 2.0 * u[i] + u[i + 1]) - 0.5 * u[i] * (u[i + 1] - u[i - 1]));
}
