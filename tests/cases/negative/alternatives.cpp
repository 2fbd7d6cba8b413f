// Keeps a number in double precision where another value of the same class has one in single precision: std::expected is a tagged union, and what is copied is
// distinguished by its bits for addresses and integers only.
#include <expected>
#include <vector>
using Items = std::vector<std::expected<double, float>>;

static double apply(const Items &items, int i, double v) {
  const auto &item = items[i];
  return item.has_value() ? item.value() * v : v + item.error();
}

extern "C" void mixture(const double *x, int n, double *y) {
  Items items;
  for (int i = 0; i < n; i++) {
    if (x[i] > 0.7) items.push_back(x[i]);
    else items.push_back(std::unexpected<float>(float(x[i])));
  }
  for (int i = 0; i < n; i++) y[i] = apply(items, i, x[n - 1 - i]);
}
