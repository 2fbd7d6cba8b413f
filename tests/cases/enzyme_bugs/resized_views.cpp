// A list of indices that grows to the length of another: distances between pointers, from which LLVM computes how many bytes to clear.
#include <cstddef>

struct Indices {
    long *begin, *end;
    std::size_t size() const { return end - begin; }
    void push(long i) { *end++ = i; }
    void resize(std::size_t count) {
        std::size_t old = size();
        end = begin + count;
        if (old < count)
            for (long *p = begin + old; p != end; ++p) *p = 0;
    }
};

extern "C" void resized_views(const double *x, int n, double *y) {
    Indices kept{new long[n + 1], nullptr}, copied{new long[n + 1], nullptr};
    kept.end = kept.begin;
    copied.end = copied.begin;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] > 0) kept.push(i);
        copied.resize(kept.size());
        if (kept.size()) copied.begin[kept.size() / 2] = kept.begin[kept.size() / 2];
        for (std::size_t k = 0; k < copied.size(); k++) sum += x[copied.begin[k]] * x[i];
        y[i] = sum;
    }
    delete[] kept.begin;
    delete[] copied.begin;
}
