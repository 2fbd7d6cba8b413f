// Keeps a number of one alternative where another has an integer: std::variant is a tagged union, and Enzyme knows one type for both.
#include <variant>
#include <vector>

struct Rate { double value; };
struct Level { long steps; };

using Items = std::vector<std::variant<Rate, Level>>;

static double apply(const Items &items, int i, double v) {
  const auto &item = items[i];
  return item.index() == 0 ? std::get<Rate>(item).value * v : v + std::get<Level>(item).steps;
}

extern "C" void mixture(const double *x, int n, double *y) {
  Items items;
  for (int i = 0; i < n; i++) {
    if (x[i] > 0.7) items.push_back(Rate{x[i]});
    else items.push_back(Level{i});
  }
  for (int i = 0; i < n; i++) y[i] = apply(items, i, x[n - 1 - i]);
}
