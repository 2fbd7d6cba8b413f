// Members of a class in a table of functions (std::mem_fn), and a description that is passed by value and has an optional number.
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <valarray>

namespace {
struct Kinetics {
    double rate, energy;
    int order;
    std::optional<double> inhibition;
};

struct Reactor {
    Kinetics kinetics;
    double volume;
    Reactor(Kinetics k, double v) : kinetics(std::move(k)), volume(v) {}
    virtual ~Reactor() = default;
    double conversion() const {
        const double speed = kinetics.rate * std::exp(-kinetics.energy) * std::pow(volume, kinetics.order);
        return speed / (1 + kinetics.inhibition.value_or(0) * volume);
    }
};

Kinetics described(double rate, double energy, int number) {
    Kinetics kinetics{rate, energy, 1 + number % 2, std::nullopt};
    if (number % 3 == 0) kinetics.inhibition = 0.3 * rate;
    return kinetics;
}
}  // namespace

extern "C" double members_in_functions(const double *rates, const double *energies, int n) {
    const std::map<std::string, std::function<double(const Reactor &)>> quantities{
        {"conversion", std::mem_fn(&Reactor::conversion)}, {"volume", std::mem_fn(&Reactor::volume)}};
    std::valarray<double> weights(6);
    for (int i = 0; i < 6; i++) weights[i] = 1 + rates[i % n];
    const std::valarray<double> block = weights[std::gslice(1, {2, 2}, {3, 1})];
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const auto reactor = std::make_unique<Reactor>(described(rates[i], energies[i], i), 1 + energies[i] * rates[0]);
        sum += quantities.at("conversion")(*reactor) * quantities.at("volume")(*reactor) * block[i % 4];
    }
    return sum;
}
