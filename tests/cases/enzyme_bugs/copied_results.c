// A copy of what a function that is not inlined has written; the copy is then updated.
#include <string.h>

__attribute__((noinline)) static void weights(const double *x, int n, double *w) {
  for (int i = 0; i < n; i++) w[i] = x[i] * x[(i + 1) % n];
}

// A function that the compiler cannot know to return keeps the first array alive.
static double settle(double a, int k) { return k <= 0 ? a : settle(0.5 * a * a, k - 1); }

void filter(const double *x, double *y) {
  double w[6], copy[6];
  weights(x, 6, w);
  memcpy(copy, w, sizeof copy);
  copy[0] += 1.0;
  for (int i = 0; i < 6; i++) y[i] = x[i] * copy[i] * copy[0];
  settle(w[2], 3);
}
