// Numbers, arrays and functions that are looked up by name in constant trees at file scope.
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

static const std::map<std::string, double> rates = {{"growth", 1.2}, {"decay", 0.3}};
static const std::map<std::string, std::vector<double>> series = {{"short", {0.5, 0.25}}, {"long", {1.0, 0.1, 0.01}}};
static const std::map<int, std::function<double(double)>> shapes = {
    {0, [](double v) { return std::tanh(v); }},
    {1, [](double v) { return std::log1p(v * v); }},
};

extern "C" void named_rates(const double *x, int n, double *y) {
    for (int i = 0; i < n; i++) {
        double power = 1, sum = 0;
        for (double c : series.at(i % 2 ? "short" : "long")) {
            sum += c * power;
            power *= x[i];
        }
        y[i] = rates.at("growth") * std::sin(x[i] * rates.at("decay")) + sum * shapes.at(i % 2)(x[i]);
    }
}
