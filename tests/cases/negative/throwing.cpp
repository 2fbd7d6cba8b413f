// Throws out of the function when x[0] < 0: an exception in the caller, never the end of the process.
#include <cmath>
#include <stdexcept>

extern "C" void log_density(const double* x, int n, double* y) {
  if (n > 0 && x[0] < 0.0) throw std::runtime_error("log_density: x[0] is negative");
  for (int i = 0; i < n; i++) y[i] = std::log(x[i]);
}
