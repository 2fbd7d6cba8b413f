// An exponentially weighted moving window over a signal, held in a deque.
#include <cmath>
#include <deque>

void smooth(const double* x, double decay, double* y, int n) {
  std::deque<double> window;
  for (int i = 0; i < n; ++i) {
    window.push_front(x[i]);
    if (window.size() > 4) window.pop_back();
    double sum = 0.0, norm = 0.0, weight = 1.0;
    for (double v : window) {
      sum += weight * v;
      norm += weight;
      weight *= decay;
    }
    y[i] = sum / norm;
  }
}
