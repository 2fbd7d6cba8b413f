// Moments of a sample with a report printed by the fmt library, which is linked.
#include <cmath>
#include <cstdio>
#include <fmt/core.h>

void moments(const double* x, double* result, int n) {
  double mean = 0.0, variance = 0.0, third = 0.0;
  for (int i = 0; i < n; ++i) mean += x[i] / n;
  for (int i = 0; i < n; ++i) {
    const double d = x[i] - mean;
    variance += d * d / (n - 1);
    third += d * d * d / n;
  }
  if (variance > 1e6) fmt::print(stderr, "a large variance: {:.3f}\n", variance);
  result[0] = mean;
  result[1] = variance;
  result[2] = third / std::pow(variance, 1.5);
}
