// A table looked up with linear interpolation; its derivative is named in the options.
static const double table[6] = {0.0, 0.4, 1.1, 1.9, 3.2, 4.0};

double lookup(double x) {
  int i = (int)x;
  return table[i] + (x - i) * (table[i + 1] - table[i]);
}
double lookup_fwd(double x, double dx, double* dy) {
  int i = (int)x;
  *dy = (table[i + 1] - table[i]) * dx;
  return lookup(x);
}
void lookup_rev(double x, double* dx, double dy) {
  int i = (int)x;
  *dx += (table[i + 1] - table[i]) * dy;
}

void curve(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = lookup(x[i]) * x[i];
}
