// Indices sorted by the numbers that they lead to, by merging, and vectors of numbers that grow.
#include <algorithm>
#include <numeric>
#include <vector>

extern "C" void merged_indices(const double *x, int n, double *y) {
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [x](int a, int b) { return x[a] < x[b]; });
    std::vector<double> sums;
    double sum = 0;
    for (int i : order) sums.insert(sums.begin() + sums.size() / 2, sum += x[i] * x[i]);
    for (int i = 0; i < n; i++) y[i] = sums[i] * x[order[i]];
}
