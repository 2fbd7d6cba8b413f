// A buffer of bytes that holds structures of an integer and numbers, at an aligned address.
#include <algorithm>
#include <memory>
#include <new>
#include <vector>

namespace {

struct Sample {
    int index;
    double weight, value;
};

template <class T> T *placed(std::vector<unsigned char> &bytes, std::size_t count) {
    void *start = bytes.data();
    std::size_t room = bytes.size();
    return static_cast<T *>(std::align(alignof(T), count * sizeof(T), start, room));
}

}  // namespace

extern "C" double aligned_buffer(const double *x, int n) {
    std::vector<unsigned char> bytes(n * sizeof(Sample) + alignof(Sample));
    Sample *samples = placed<Sample>(bytes, n);
    for (int i = 0; i < n; i++) new (samples + i) Sample{i, 1.0 / (1 + i), x[i] * x[i]};
    std::sort(samples, samples + n, [](const Sample &a, const Sample &b) { return a.value < b.value; });
    double sum = 0;
    for (int i = 0; i < n; i++) sum += samples[i].weight * samples[i].value * x[samples[i].index];
    return sum;
}
