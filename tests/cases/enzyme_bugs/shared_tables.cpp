// Constant containers, and a singleton that nothing writes to, meet active ones: as arguments of one function, in closures, behind one pointer.
#include <cmath>
#include <functional>
#include <vector>

namespace {

const std::vector<double> &nodes() {
    static const std::vector<double> table = {0.1, 0.5, 0.9, 1.4, 2.0};
    return table;
}

const std::vector<double> weights = {0.2, 0.3, 0.1, 0.25, 0.15};

struct Settings {
    std::vector<double> gains{0.7, 0.4};
    double scale = 1.5;
    static Settings &instance() {
        static Settings settings;
        return settings;
    }
};

struct Rule {
    const std::vector<double> *at, *by;
};

[[gnu::noinline]] double sum(const std::vector<double> &a, const std::vector<double> &b, double c) {
    double s = 0;
    for (std::size_t i = 0; i < a.size() && i < b.size(); i++) s += a[i] * std::sin(b[i] * c);
    return s;
}

} // namespace

extern "C" void shared_tables(const double *x, int n, double *y) {
    std::vector<double> values(x, x + n);
    std::vector<std::function<double(double)>> closures;
    const auto &table = nodes();
    closures.push_back([&](double c) { return sum(table, values, c); });
    closures.push_back([&](double c) { return sum(values, table, c * c); });
    std::vector<Rule> rules = {{&nodes(), &weights}, {&values, &weights}, {&nodes(), &values}};
    const std::vector<double> *chosen = x[0] > 0 ? &values : &nodes();
    for (int i = 0; i < n; i++) {
        y[i] = closures[i % 2](x[i]) + sum(*rules[i % 3].at, *rules[i % 3].by, x[0]);
        y[i] += sum(*chosen, values, x[i]) + sum(values, Settings::instance().gains, x[i]) * Settings::instance().scale;
    }
}
