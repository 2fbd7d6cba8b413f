// A lock, and the processor's counter: neither has a derivative.
#include <cmath>
#include <mutex>

static std::mutex mutex;

extern "C" double locked_sum(const double *x, int n) {
    const auto start = __builtin_readcyclecounter();
    std::lock_guard<std::mutex> lock(mutex);
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (0.5 + i % 3) * std::sin(x[i]);
    return __builtin_readcyclecounter() - start > 0 ? sum : 0;
}
