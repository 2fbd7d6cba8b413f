/* A pointer that is a select of the input and a constant table. */
static const double table[4] = {1.5, -0.5, 2.0, 0.25};
double chosen(const double *u, const int *own, int n) {
  double sum = 0;
  for (int k = 0; k < n; k++) {
    const double *p = own[k] == 1 ? u + k : own[k] == 2 ? u : table + k % 4;
    sum += *p * *p * (k + 1) + u[k];
  }
  return sum;
}
