/* A field inside a frame of fixed values: each number is loaded through a select of two arrays. */
void padded(const double *u, const double *frame, int n, double *v) {
  for (int k = 0; k < n; k++) {
    int inside = k > 0 && k < n - 1;
    double here = inside ? u[k] : frame[k];
    double left = k > 1 ? u[k - 1] : frame[0];
    v[k] = here * here + 0.5 * left * here;
  }
}
