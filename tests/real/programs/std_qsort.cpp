// A trimmed mean and a rank statistic by the C library's qsort.
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cstddef>
static int compare(const void* a, const void* b) {
  double x = *static_cast<const double*>(a), y = *static_cast<const double*>(b);
  return (x > y) - (x < y);
}
struct Item { double key; int id; };
static int by_key(const void* a, const void* b) {
  double x = static_cast<const Item*>(a)->key, y = static_cast<const Item*>(b)->key;
  return x < y ? -1 : x > y;
}
double trimmed_mean(const double* x, size_t n) {
  std::vector<double> v(x, x + n);
  std::qsort(v.data(), n, sizeof(double), compare);
  double s = 0;
  for (size_t i = 2; i + 2 < n; i++) s += v[i] * v[i];
  std::vector<Item> items(n);
  for (size_t i = 0; i < n; i++) items[i] = {x[i] * x[i], (int)i};
  std::qsort(items.data(), n, sizeof(Item), by_key);
  for (size_t i = 0; i < n; i++) s += items[i].key * x[items[i].id] * i;
  return s;
}
