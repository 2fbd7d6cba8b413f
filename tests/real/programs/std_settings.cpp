// Devices of a circuit: alternatives of std::variant with numbers where others have integers, flags and addresses.
#include <cmath>
#include <memory>
#include <variant>
#include <vector>

struct Resistor { double ohms; };
struct Junction { int ideality; double saturation; };
struct Switch { bool closed; };
struct Table { std::vector<double> current; };
using Device = std::variant<Resistor, Junction, Switch, Table>;

struct Current {
  double volts;
  double operator()(const Resistor& r) const { return volts / r.ohms; }
  double operator()(const Junction& j) const { return j.saturation * std::expm1(volts / j.ideality); }
  double operator()(const Switch& s) const { return s.closed ? 10.0 * volts : 0.0; }
  double operator()(const Table& t) const { return t.current[0] + volts * (t.current[1] - t.current[0]); }
};

double dissipation(const double* x, int n) {
  std::vector<Device> devices;
  for (int i = 0; i < n; ++i) {
    if (i % 4 == 0) devices.push_back(Resistor{x[i]});
    else if (i % 4 == 1) devices.push_back(Junction{1 + i % 3, x[i]});
    else if (i % 4 == 2) devices.push_back(Table{{x[i], x[i] * x[i - 1]}});
    else devices.push_back(Switch{i % 8 == 3});
  }
  Device spare = devices.front();
  std::swap(spare, devices.back());
  double total = 0.0;
  for (const Device& device : devices) total += std::visit(Current{0.7}, device) * 0.7;
  if (const auto* r = std::get_if<Resistor>(&devices.back())) total *= 1.0 + r->ohms;
  return total;
}
