// Shallow water on a grid: Boost.MultiArray with views by index ranges, and a moving average in a circular buffer.
#include <algorithm>
#include <boost/circular_buffer.hpp>
#include <boost/multi_array.hpp>
#include <numeric>

namespace {
using Grid = boost::multi_array<double, 3>;
using Range = Grid::index_range;

void reflect(Grid& q, int n) {
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < n; ++i) {
      q[c][0][i] = q[c][1][i] * (c == 1 ? -1 : 1);
      q[c][n - 1][i] = q[c][n - 2][i] * (c == 1 ? -1 : 1);
      q[c][i][0] = q[c][i][1] * (c == 2 ? -1 : 1);
      q[c][i][n - 1] = q[c][i][n - 2] * (c == 2 ? -1 : 1);
    }
}
}  // namespace

double gauge(const double* height, double g, int n) {
  const int m = n + 2;
  Grid q(boost::extents[3][m][m]);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) q[0][i + 1][j + 1] = height[i * n + j];
  boost::circular_buffer<double> recent(3);
  for (int step = 0; step < 5; ++step) {
    reflect(q, m);
    Grid next = q;
    for (int i = 1; i < m - 1; ++i)
      for (int j = 1; j < m - 1; ++j) {
        next[1][i][j] -= 0.01 * g * (q[0][i + 1][j] - q[0][i - 1][j]);
        next[2][i][j] -= 0.01 * g * (q[0][i][j + 1] - q[0][i][j - 1]);
        next[0][i][j] -= 0.01 * q[0][i][j] * (q[1][i + 1][j] - q[1][i - 1][j] + q[2][i][j + 1] - q[2][i][j - 1]);
      }
    q = next;
    recent.push_back(q[0][2][2]);
  }
  boost::multi_array<double, 2> line(boost::extents[3][m]);
  line = q[boost::indices[Range()][2][Range()]];
  const double mean = std::accumulate(recent.begin(), recent.end(), 0.0) / recent.size();
  return mean + std::inner_product(line.data(), line.data() + line.num_elements(), line.data(), 0.0);
}
