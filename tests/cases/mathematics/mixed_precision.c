// float data, double arithmetic: residuals of a line, summed in double precision.
double residual(const float* x, const float* y, double slope, double offset, int n) {
  double s = 0.0;
  for (int i = 0; i < n; i++) {
    double r = (double)y[i] - (slope * (double)x[i] + offset);
    s += r * r;
  }
  return s;
}
