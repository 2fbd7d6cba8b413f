// Vectors that are swapped, coefficients that are overwritten behind the loop, and an early exit.
#include <cmath>
#include <ffgrad/derivatives.h>
#include <utility>
#include <vector>

struct Cells {
  std::vector<double> now, next;
  double time = 0;

  void step(const std::vector<double> &rate) {
    std::size_t n = now.size();
    for (std::size_t i = 0; i < n; i++) next[i] = now[i] + 0.1 * rate[i] * std::sin(now[(i + 1) % n] - now[i]);
    std::swap(now, next);
    time += 0.1 * now[0];
  }
};

extern "C" void cells(const double *start, const double *rate, int n, int steps, double *end) {
  Cells cells{{start, start + n}, std::vector<double>(n)};
  std::vector<double> squares(n);
  for (int i = 0; i < n; i++) squares[i] = rate[i] * rate[i];
  FFGRAD_CHECKPOINT(3);
  for (int s = 0; s < steps; s++) {
    cells.step(squares);
    if (cells.time > 1e6) break;
  }
  for (double &square : squares) square = cells.time;
  for (int i = 0; i < n; i++) end[i] = cells.now[i] * squares[i];
}
