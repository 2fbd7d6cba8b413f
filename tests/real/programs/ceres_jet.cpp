// A residual templated on Ceres' Jet, its derivative used in a Gauss-Newton step.
#include <ceres/jet.h>

template <typename T>
T residual(const T& amplitude, const T& rate, double t, double y) {
  using std::exp;
  return amplitude * exp(-rate * T(t)) - T(y);
}

void gauss_newton_step(const double* t, const double* y, const double* start, double* next, int n) {
  using Jet = ceres::Jet<double, 2>;
  double h00 = 0.0, h01 = 0.0, h11 = 0.0, g0 = 0.0, g1 = 0.0;
  for (int i = 0; i < n; ++i) {
    const Jet r = residual(Jet(start[0], 0), Jet(start[1], 1), t[i], y[i]);
    h00 += r.v[0] * r.v[0];
    h01 += r.v[0] * r.v[1];
    h11 += r.v[1] * r.v[1];
    g0 += r.v[0] * r.a;
    g1 += r.v[1] * r.a;
  }
  const double determinant = h00 * h11 - h01 * h01;
  next[0] = start[0] - (h11 * g0 - h01 * g1) / determinant;
  next[1] = start[1] - (h00 * g1 - h01 * g0) / determinant;
}
