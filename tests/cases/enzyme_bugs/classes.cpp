// Objects of classes with different members behind one kind of pointer: Enzyme knows one type for all memory that a pointer may lead to.
#include <cmath>
#include <memory>
#include <vector>

namespace {
struct Term {
    virtual double value(double at) const = 0;
    virtual ~Term() = default;
};

struct Line : Term {
    double slope, offset;
    Line(double slope, double offset) : slope(slope), offset(offset) {}
    double value(double at) const override { return slope * at + offset; }
};

struct Power : Term {
    int exponent;
    explicit Power(int exponent) : exponent(exponent) {}
    double value(double at) const override {
        double result = 1;
        for (int i = 0; i < exponent; i++) result *= at;
        return result;
    }
};

struct Series : Term {
    std::vector<double> factors;
    Series(const double *x, int n) : factors(x, x + n) {}
    double value(double at) const override {
        double sum = 0;
        for (double factor : factors) sum += std::sin(factor * at);
        return sum;
    }
};

double twice(const Term &term, double at) { return 2 * term.value(at); }
}  // namespace

extern "C" void classes(const double *x, int n, double *y) {
    std::vector<std::shared_ptr<const Term>> terms;
    for (int i = 0; i < n; i++) {
        if (x[i] < 0) terms.push_back(std::make_shared<Line>(x[i], x[0]));
        else if (x[i] < 0.5) terms.push_back(std::make_shared<Power>(i % 4));
        else terms.push_back(std::make_shared<Series>(x, n));
    }
    Series own(x, n);
    for (int i = 0; i < n; i++) {
        double sum = twice(own, x[i]) - twice(Line(x[0], x[i]), x[n - 1]);
        for (const auto &term : terms) sum += term->value(x[i]);
        y[i] = sum;
    }
}
