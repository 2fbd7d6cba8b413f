// Objects that one call fills and the next one finds: a cache of tables, a registry of classes, work arrays, a record of evaluations, a log of the thread.
#include <cmath>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

static const std::vector<double> &nodes(int count) {
    static std::map<int, std::vector<double>> cache;
    auto found = cache.find(count);
    if (found == cache.end()) {
        std::vector<double> all(count);
        for (int i = 0; i < count; i++) all[i] = std::cos((i + 0.5) / count);
        found = cache.emplace(count, all).first;
    }
    return found->second;
}

void cached_tables(const double *x, int n, double *y) {
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (double node : nodes(1 + i % 3)) y[i] += std::sin(node * x[i]);
    }
}

struct Response {
    virtual ~Response() = default;
    virtual double of(double x) const = 0;
};
struct Leaky : Response {
    double of(double x) const override { return x > 0 ? x : 0.25 * x; }
};
struct Smooth : Response {
    double of(double x) const override { return x / (1 + x * x); }
};

static std::map<std::string, std::unique_ptr<Response>> &responses() {
    static std::map<std::string, std::unique_ptr<Response>> all;
    if (all.empty()) {
        all["leaky"] = std::make_unique<Leaky>();
        all["smooth"] = std::make_unique<Smooth>();
    }
    return all;
}

void registered_classes(const double *x, int n, double *y) {
    for (int i = 0; i < n; i++) y[i] = responses()[i % 2 ? "leaky" : "smooth"]->of(x[i]) * x[0];
}

static std::vector<double> work;

void work_arrays(const double *x, int n, double *y) {
    static thread_local std::vector<double> sums;
    work.resize(n);
    sums.assign(n, 0.0);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < n; i++) work[i] = step ? y[i] : x[i];
        for (int i = 0; i < n; i++) y[i] = work[i] + 0.25 * work[i] * work[(i + 1) % n];
        for (int i = 0; i < n; i++) sums[i] += y[i];
    }
    for (int i = 0; i < n; i++) y[i] = sums[i];
}

namespace {
int evaluations = 0;
std::vector<double> history;
thread_local std::ostringstream notes;
}  // namespace

void recorded_evaluations(const double *x, int n, double *y) {
    ++evaluations;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i];
        notes << "sum " << sum << "\n";
        y[i] = sum * x[0];
    }
    history.push_back(sum);
}
