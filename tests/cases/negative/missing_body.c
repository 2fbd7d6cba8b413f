// Calls a function that has no body anywhere and no known derivative.
double lookup(const double* table, double x);

// One step of a table-driven simulation.
void simulate(const double* table, const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    y[i] = lookup(table, x[i]);
  }
}
