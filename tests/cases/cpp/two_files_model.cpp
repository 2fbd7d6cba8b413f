// Two C++ files, this one: uses a class whose methods are defined in two_files_spline.cpp.
#include "include/spline.hpp"

extern "C" double roughness(const double* knots, const double* t, int k, int n) {
  Spline spline(knots, k);
  double s = 0.0;
  for (int i = 0; i < n; i++) s += spline.at(t[i]) * spline.at(t[i]);
  return s;
}
