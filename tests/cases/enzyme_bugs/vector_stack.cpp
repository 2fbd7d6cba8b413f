// A vector as a stack: it grows in a function that is not inlined, and moved elements are read again.
#include <cmath>
#include <vector>
void push_and_pop(const double *x, int n, double *y) {
  std::vector<double> s;
  s.push_back(1);
  for (int i = 0; i < n; i++) {
    if (x[i] > 0 || s.size() < 2) {
      s.push_back(x[i] * s.back() + 0.3);
    } else {
      double a = s.back();
      s.pop_back();
      s.back() = std::sin(s.back()) * a + x[i];
    }
    y[i] = s.back() + s[s.size() / 2];
  }
}
