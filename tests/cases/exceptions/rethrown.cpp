// `throw;` in a handler and in a function that a handler calls, an exception thrown by a handler, a function try block.
#include <stdexcept>

static __attribute__((noinline)) double source(double u) {
  if (u > 0.4) throw std::range_error("high");
  if (u < -0.4) throw std::invalid_argument("low");
  return u;
}

static __attribute__((noinline)) int kind() {
  try {
    throw;
  } catch (const std::logic_error&) {
    return 2;
  } catch (const std::runtime_error&) {
    return 3;
  }
}

static double noted(double u, double& seen) try {
  return source(u) * u;
} catch (const std::exception&) {
  seen += u;
  if (u > 0.8) throw 1;
  throw;
}

extern "C" double rethrown(const double* x, int n) {
  double sum = 0, seen = 0;
  for (int i = 0; i < n; i++) {
    try {
      try {
        sum += noted(x[i], seen);
      } catch (const std::exception&) {
        sum += kind() * x[i] * seen;
      }
    } catch (int code) {
      sum += code - x[i];
    }
  }
  return sum + seen * seen;
}
