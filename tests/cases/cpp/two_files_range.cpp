// Two C++ files, another one: the same spline, its vector made from a range. The copy is a memcpy in
// a function that never reads a double, so Enzyme cannot deduce its type.
#include "include/spline.hpp"

Spline::Spline(const double* knots, int count) : knots_(knots, knots + count) {}

double Spline::at(double t) const {
  int i = static_cast<int>(t);
  double u = t - i;
  return 0.5 * ((1 - u) * (1 - u) * knots_[i] + (1 + 2 * u - 2 * u * u) * knots_[i + 1] + u * u * knots_[i + 2]);
}
