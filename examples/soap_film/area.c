/* The area of a soap film over the unit square: heights u inside, a wire of given heights around them. */
#include <math.h>

double area(const double *u, const double *frame, int n, double *z) {
  int m = n + 2;
  double h = 1.0 / (n + 1), sum = 0;
  for (int i = 0; i < m * m; i++) z[i] = frame[i];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) z[(i + 1) * m + j + 1] = u[i * n + j];
  for (int i = 0; i <= n; i++)
    for (int j = 0; j <= n; j++) {
      const double *at = z + i * m + j;
      double a = at[0], b = at[m], c = at[1], d = at[m + 1];
      double x = (b + d - a - c) / (2 * h), y = (c + d - a - b) / (2 * h);
      double twist = (a + d - b - c) / h; /* keeps neighbours together that the two slopes do not see */
      sum += h * h * sqrt(1 + x * x + y * y + twist * twist / 12);
    }
  return sum;
}
