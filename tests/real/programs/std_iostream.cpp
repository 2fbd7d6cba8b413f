// A fixed-point iteration with a log: <iostream> included, and printed to a string stream and, rarely, to std::cerr.
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

double self_consistent(const double* coupling, int n) {
  double m = 0.5;
  std::ostringstream log;
  for (int step = 0; step < 30; ++step) {
    double field = 0.0;
    for (int i = 0; i < n; ++i) field += coupling[i] * std::tanh(m * (1.0 + 0.1 * i));
    const double next = field / n;
    log << "step " << std::setw(3) << step << ' ' << std::setprecision(10) << next << '\n';
    m = 0.5 * (m + next);
  }
  if (std::isnan(m)) std::cerr << log.str() << std::endl;
  return m;
}
