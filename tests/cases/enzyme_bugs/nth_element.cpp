// Selection with bounds that shrink depending on values.
#include <algorithm>
#include <vector>
void around_median(const double *x, int n, double *y) {
  std::vector<double> t(x, x + n);
  std::nth_element(t.begin(), t.begin() + n / 2, t.end());
  for (int i = 0; i < n; i++) y[i] = (x[i] - t[n / 2]) * x[i];
}
