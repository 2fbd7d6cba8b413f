// Header of with_header.cpp, found through include_dirs.
#pragma once
#include <cmath>

namespace kernels {

inline double rational_quadratic(double r2, double alpha) { return std::pow(1.0 + 0.5 * r2 / alpha, -alpha); }

}  // namespace kernels
