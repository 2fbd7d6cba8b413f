// Sparse matrix times vector (CSR): integer arrays steer the loops; m comes from sizes={}.
void csr_matvec(const double* value, const int* column, const int* start, const double* x, int m, double* y) {
  for (int i = 0; i < m; i++) {
    double s = 0.0;
    for (int p = start[i]; p < start[i + 1]; p++) s += value[p] * x[column[p]];
    y[i] = s;
  }
}
