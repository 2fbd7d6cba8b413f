// A header of the user's own, found through include_dirs: a Gram matrix.
#include "kernels.hpp"

extern "C" void gram(const double* x, double alpha, int n, double* K) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      K[i * n + j] = kernels::rational_quadratic((x[i] - x[j]) * (x[i] - x[j]), alpha);
}
