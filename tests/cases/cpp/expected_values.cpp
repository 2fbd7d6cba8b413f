// A growing vector of std::expected: a number, or in its place an integer with the error.
#include <expected>
#include <vector>

using Items = std::vector<std::expected<double, long>>;

static double apply(const Items &items, int i, double v) {
    const auto &item = items[i];
    return item.has_value() ? item.value() * v : v + item.error();
}

extern "C" void expected_values(const double *x, int n, double *y) {
    Items items;
    for (int i = 0; i < n; i++) {
        if (x[i] > 0.9) items.push_back(x[i]);
        else items.push_back(std::unexpected<long>(i));
    }
    for (int i = 0; i < n; i++) y[i] = apply(items, i, x[n - 1 - i] * x[i]);
}
