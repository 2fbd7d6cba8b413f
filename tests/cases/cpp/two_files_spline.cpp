// Two C++ files, the other one: a uniform quadratic B-spline.
#include "include/spline.hpp"

Spline::Spline(const double* knots, int count) : knots_(count) {
  for (int i = 0; i < count; i++) knots_[i] = knots[i];
}

double Spline::at(double t) const {
  int i = static_cast<int>(t);
  double u = t - i;
  return 0.5 * ((1 - u) * (1 - u) * knots_[i] + (1 + 2 * u - 2 * u * u) * knots_[i + 1] + u * u * knots_[i + 2]);
}
