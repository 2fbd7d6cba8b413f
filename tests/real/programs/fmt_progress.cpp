// Gradient descent that formats a line of its log at each step, by header-only fmt.
#define FMT_HEADER_ONLY
#include <fmt/format.h>
#include <string>
#include <vector>

double descend(const double* start, double rate, int n) {
  std::vector<double> x(start, start + n);
  std::vector<std::string> log;
  double loss = 0.0;
  for (int step = 0; step < 5; ++step) {
    loss = 0.0;
    for (int i = 0; i < n; ++i) {
      const double residual = x[i] * x[i] - i - 1.0;
      loss += residual * residual;
      x[i] -= rate * 4.0 * residual * x[i];
    }
    log.push_back(fmt::format("step {:3d}  loss {:12.6e}", step, loss));
  }
  return loss;
}
