// Objects that own objects of their own kind: destructors call one another in a circle, through their virtual tables.
#include <cmath>
#include <memory>

namespace {
struct Curve {
    virtual double value(double at) const = 0;
    virtual ~Curve() = default;
};

struct Flat : Curve {
    double rate;
    explicit Flat(double rate) : rate(rate) {}
    double value(double at) const override { return std::exp(-rate * at); }
};

struct Shifted : Curve {
    std::shared_ptr<const Curve> base;
    double shift;
    Shifted(std::shared_ptr<const Curve> base, double shift) : base(std::move(base)), shift(shift) {}
    double value(double at) const override { return base->value(at) * (1 + shift * at); }
};
}  // namespace

extern "C" void nested_owners(const double *x, int n, double *y) {
    std::shared_ptr<const Curve> curve = std::make_shared<Flat>(x[0]);
    for (int i = 1; i < n; i++) {
        curve = std::make_shared<Shifted>(curve, x[i]);
        if (i > 2) curve = std::make_shared<Flat>(curve->value(x[i]));
    }
    for (int i = 0; i < n; i++) y[i] = curve->value(x[i]) + x[i];
}
