// Standard containers shared by threads, a lambda, and a reduction of a class of one's own.
#include <cmath>
#include <vector>
struct Moments {
  double first = 0, second = 0;
  Moments &operator+=(const Moments &other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};
#pragma omp declare reduction(+ : Moments : omp_out += omp_in) initializer(omp_priv = Moments())
extern "C" double spread(const double *x, int n) {
  std::vector<double> y(n);
  auto map = [&](int i) { return std::sin(x[i]) + x[i]; };
#pragma omp parallel for
  for (int i = 0; i < n; i++) y[i] = map(i);
  Moments m;
#pragma omp parallel for reduction(+ : m)
  for (int i = 0; i < n; i++) {
    m.first += y[i];
    m.second += y[i] * y[i];
  }
  return m.second / n - m.first * m.first / n / n;
}
