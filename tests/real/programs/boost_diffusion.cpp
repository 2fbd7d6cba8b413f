// Diffusion on a plane with boost::multi_array.
#include <boost/multi_array.hpp>

void diffuse(const double* u, double rate, double* v, int rows, int cols) {
  using Grid = boost::multi_array<double, 2>;
  Grid now(boost::extents[rows][cols]);
  now.assign(u, u + rows * cols);
  for (int step = 0; step < 4; ++step) {
    Grid next(now);
    for (int i = 1; i + 1 < rows; ++i)
      for (int j = 1; j + 1 < cols; ++j) {
        const double k = rate * (1.0 + 0.1 * now[i][j] * now[i][j]);
        next[i][j] += k * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4.0 * now[i][j]);
      }
    now = next;
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) v[i * cols + j] = now[i][j];
}
