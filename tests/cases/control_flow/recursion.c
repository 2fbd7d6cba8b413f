// Recursion: a binary tree of products and means over a slice of the input.
#include <math.h>

static double tree(const double* x, int lo, int hi) {
  if (hi - lo == 1) return sin(x[lo]);
  int mid = lo + (hi - lo) / 2;
  double left = tree(x, lo, mid), right = tree(x, mid, hi);
  return left * right + 0.5 * (left + right);
}

double tree_reduce(const double* x, int n) {
  return tree(x, 0, n);
}
