// A memo in a static: the same argument is not computed twice, in the next call either.
#include <math.h>

typedef struct {
  int have;
  double x, y;
} Memo;

static Memo memo = {0, -1, 0};

__attribute__((noinline)) static double known(double x) {
  if (memo.have && x == memo.x) return memo.y;
  memo.have = 1;
  memo.x = x;
  memo.y = cos(x * x) + x;
  return memo.y;
}

void static_memo(const double *x, int n, double *y) {
  for (int i = 0; i < n; i++) y[i] = known(x[i]) * known(x[i]) + 0.5 * known(x[i]);
}
