// y = x / |x|, written as one would on a blackboard: the length inside the loop. The compiler moves it out and makes
// the loop O(n); differentiated before that, the gradient would stay O(n^2).
#include <math.h>

static double length(const double* x, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

void normalise(const double* restrict x, int n, double* restrict y) {
  for (int i = 0; i < n; i++) y[i] = x[i] / length(x, n);
}
