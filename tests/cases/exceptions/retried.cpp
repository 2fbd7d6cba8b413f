// Halves a step until it is accepted, and solves by bisection where Newton's method gives up.
#include <cmath>
#include <stdexcept>
#include <vector>

static double euler(double rate, double step) {
  if (step * std::fabs(rate) > 0.15) throw std::range_error("the step is too large");
  double y = 1;
  for (double t = 0; t < 1 - 1e-9; t += step) y += step * rate * y;
  return y;
}

static double newton(double a, double x) {
  for (int k = 0; k < 40; k++) {
    double slope = 3 * x * x - 1;
    if (std::fabs(slope) < 0.3) throw std::runtime_error("flat");
    double next = x - (x * x * x - x - a) / slope;
    if (std::fabs(next - x) < 1e-13) return next;
    x = next;
  }
  throw std::runtime_error("no convergence");
}

static double bisect(double a) {
  double low = -4, high = 4;
  for (int k = 0; k < 60; k++) {
    double middle = 0.5 * (low + high);
    (middle * middle * middle - middle > a ? high : low) = middle;
  }
  // The bisection's result is piecewise constant: each step of Newton's method gives one more derivative.
  double x = 0.5 * (low + high);
  for (int k = 0; k < 2; k++) x -= (x * x * x - x - a) / (3 * x * x - 1);
  return x;
}

extern "C" double retried(const double* x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double step = 0.5;
    for (int k = 0; k < 6; k++, step *= 0.5) {
      try {
        sum += euler(x[i], step);
        break;
      } catch (const std::range_error&) {
      }
    }
    try {
      sum += newton(x[i] + 2, x[i] < 0 ? 0.55 : 1.5);
    } catch (const std::runtime_error&) {
      sum += 2 * bisect(x[i] + 2);
    }
  }
  return sum;
}
