// Work along a path whose force is a cubic B-spline through samples.
#include <boost/math/interpolators/cardinal_cubic_b_spline.hpp>
#include <vector>

double work(const double* force, const double* path, int n, int m) {
  const std::vector<double> samples(force, force + n);
  const boost::math::interpolators::cardinal_cubic_b_spline<double> spline(samples.begin(), samples.end(), 0.0, 0.5);
  double sum = 0.0;
  for (int i = 0; i + 1 < m; ++i) {
    const double middle = 0.5 * (path[i] + path[i + 1]);
    sum += spline(middle) * (path[i + 1] - path[i]);
  }
  return sum;
}
