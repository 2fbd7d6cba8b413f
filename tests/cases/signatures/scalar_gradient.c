// Scalars by value, each with a gradient of its own: a damped wave.
#include <math.h>

void damped_wave(const double* t, double amplitude, double decay, double omega, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = amplitude * exp(-decay * t[i]) * cos(omega * t[i]);
}
