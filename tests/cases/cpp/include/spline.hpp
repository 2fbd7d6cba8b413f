// Header shared by two_files_model.cpp and two_files_spline.cpp.
#pragma once
#include <vector>

class Spline {
 public:
  Spline(const double* knots, int count);
  double at(double t) const;

 private:
  std::vector<double> knots_;
};
