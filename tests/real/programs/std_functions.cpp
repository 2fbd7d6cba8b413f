// Operator splitting: a sequence of steps held as std::function, lambdas with captures.
#include <cmath>
#include <functional>
#include <vector>

double split_steps(const double* u, double rate, double noise, int n) {
  std::vector<double> state(u, u + n);
  std::vector<std::function<void(std::vector<double>&)>> steps;
  steps.push_back([rate](std::vector<double>& s) {
    for (double& v : s) v += 0.1 * rate * v * (1.0 - v);
  });
  steps.push_back([noise, n](std::vector<double>& s) {
    const double left = s.front();
    for (int i = 0; i + 1 < n; ++i) s[i] += noise * (s[i + 1] - s[i]);
    s.back() += noise * (left - s.back());
  });
  std::function<double(double)> energy = [](double v) { return 0.5 * v * v; };
  for (int t = 0; t < 6; ++t)
    for (const auto& step : steps) step(state);
  double sum = 0.0;
  for (double v : state) sum += energy(v);
  return sum;
}
