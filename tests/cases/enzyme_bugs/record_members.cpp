// Structures with small members and an array: sorted by a number that is not the first, swapped, passed by value. Pairs, which have a base class.
#include <algorithm>
#include <utility>
#include <vector>

struct Particle {
    double place[3];
    double mass;
    bool charged;
    float weight;
    long id;
};

static double energy(Particle p) {
    p.mass *= p.weight;
    return p.mass * p.place[1] * p.place[2] + (p.charged ? p.place[0] : 0) + p.id;
}

static std::vector<Particle> particles(const double *x, int n) {
    std::vector<Particle> all;
    for (int i = 0; i < n; i++) all.push_back({{x[i], x[i] * x[i], 1.5}, 2 + x[i], i % 2 == 0, 0.5f, i});
    return all;
}

extern "C" void record_members(const double *x, int n, double *y) {
    std::vector<Particle> all = particles(x, n);
    std::sort(all.begin(), all.end(), [](const Particle &a, const Particle &b) { return a.place[1] < b.place[1]; });
    for (int i = 0; i + 1 < n; i += 2) std::swap(all[i], all[i + 1]);
    for (int i = 0; i < n; i++) y[i] = energy(all[i]);
}

extern "C" void sorted_pairs(const double *x, int n, double *y) {
    std::vector<std::pair<double, int>> all;
    for (int i = 0; i < n; i++) all.push_back({x[i] * x[i], i});
    std::sort(all.begin(), all.end());
    for (int i = 0; i < n; i++) y[i] = all[i].first * x[all[i].second];
}
