// std::vector that grows by push_back: the elements above a threshold, then their energy.
#include <vector>

extern "C" double selected_energy(const double* x, int n) {
  std::vector<double> kept;
  for (int i = 0; i < n; i++)
    if (x[i] > 0.0) kept.push_back(x[i]);
  double e = 0.0;
  for (double v : kept) e += v * v * v;
  return e;
}
