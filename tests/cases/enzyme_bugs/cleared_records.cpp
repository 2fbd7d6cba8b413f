// Vectors of structures of an integer and numbers of two sizes, whose elements begin as zeros, and are cleared in between.
#include <vector>

struct Sample {
    int index;
    float weight;
    double value;
};

extern "C" double cleared_records(const double *x, int n) {
    std::vector<Sample> samples(n);
    double total = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            samples[i].index = i + 1;
            samples[i].weight = 1.0f / (1 + i + pass);
            samples[i].value += x[i] * x[i];
        }
        for (const Sample &s : samples) total += s.index * s.weight * s.value * s.value;
        samples[n / 2] = Sample();
    }
    return total;
}
