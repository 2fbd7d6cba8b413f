// std::vector temporaries, one of them constructed in every iteration of the loop.
#include <cmath>
#include <vector>

extern "C" double hidden_layer(const double* w, const double* x, int m, int n) {
  double loss = 0.0;
  for (int i = 0; i < m; i++) {
    std::vector<double> z(n);
    for (int j = 0; j < n; j++) z[j] = std::tanh(w[i * n + j] * x[j]);
    std::vector<double> prefix(z);
    for (int j = 1; j < n; j++) prefix[j] += prefix[j - 1];
    loss += prefix.back() * prefix.back();
  }
  return loss;
}
