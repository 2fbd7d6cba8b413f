// Powers of negative numbers whose exponents are numbers in memory, as the nodes of a parsed formula keep them.
#include <cmath>
#include <memory>
#include <vector>

namespace {
struct Node {
    virtual ~Node() = default;
    virtual double value(double x) const = 0;
};

struct Number : Node {
    double number;
    explicit Number(double given) : number(given) {}
    double value(double) const override { return number; }
};

struct Input : Node {
    double value(double x) const override { return x; }
};

struct Power : Node {
    std::unique_ptr<Node> base, exponent;
    Power(std::unique_ptr<Node> b, std::unique_ptr<Node> e) : base(std::move(b)), exponent(std::move(e)) {}
    double value(double x) const override { return std::pow(base->value(x), exponent->value(x)); }
};
}  // namespace

extern "C" void parsed_powers(const double *x, double *y, int n) {
    std::vector<std::unique_ptr<Node>> formulas;
    for (int exponent = 1; exponent < 4; exponent++) {
        formulas.push_back(std::make_unique<Power>(std::make_unique<Input>(), std::make_unique<Number>(exponent)));
    }
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (const auto &formula : formulas) y[i] = 0.5 * y[i] + formula->value(x[i]);
    }
}
