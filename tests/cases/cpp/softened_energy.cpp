// The field of charges on each other, with a shortest distance: the length of a vector of zeros is computed for i = j, and not used.
#include <algorithm>
#include <cmath>
#include <complex>

extern "C" double softened_energy(const double *x, const double *y, const double *charge, int n) {
  double energy = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      std::complex<double> apart(x[i] - x[j], y[i] - y[j]);
      energy += charge[i] * charge[j] / std::max(std::abs(apart), 1e-3);
      double distance = std::hypot(x[i] - x[j], y[i] - y[j]);
      if (distance > 1e-6) energy += std::log(distance);
    }
  }
  return energy;
}
