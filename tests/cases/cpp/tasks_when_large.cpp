// Libraries start threads where there is much to do, and fill tables once: a sum in halves, of which large ones are tasks of their own.
#include <cmath>
#include <cstddef>
#include <future>
#include <mutex>
#include <vector>

namespace {
std::once_flag filled;
std::vector<double> weights;

void fill() {
    for (int i = 0; i < 4; i++) weights.push_back(1.0 / (1 + i));
}

double part(const double *x, std::size_t first, std::size_t count) {
    if (count == 1) return weights[first % 4] * std::sin(x[first]) * x[first];
    const std::size_t half = count / 2;
    if (count > 100000) {
        std::future<double> task = std::async(std::launch::async, part, x, first, half);
        const double rest = part(x, first + half, count - half);
        return task.get() + rest;
    }
    return part(x, first, half) + part(x, first + half, count - half);
}
}  // namespace

extern "C" double tasks_when_large(const double *x, int n) {
    std::call_once(filled, fill);
    return part(x, 0, n);
}
