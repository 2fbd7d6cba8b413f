// Predators and prey: the Lotka-Volterra equations, integrated by the classic Runge-Kutta method. Ordinary C++, without
// any code for gradients.
#include <array>

namespace {
using State = std::array<double, 2>;

State rate_of_change(const State& s, const double* rates) {
  const double prey = s[0], predators = s[1];
  return {rates[0] * prey - rates[1] * prey * predators, rates[2] * prey * predators - rates[3] * predators};
}

State moved(const State& s, double step, const State& along) {
  return {s[0] + step * along[0], s[1] + step * along[1]};
}

State step(const State& s, double dt, const double* rates) {
  const State k1 = rate_of_change(s, rates);
  const State k2 = rate_of_change(moved(s, dt / 2, k1), rates);
  const State k3 = rate_of_change(moved(s, dt / 2, k2), rates);
  const State k4 = rate_of_change(moved(s, dt, k3), rates);
  State next;
  for (int i = 0; i < 2; i++) next[i] = s[i] + dt / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  return next;
}
}  // namespace

// rates: birth of prey, predation, growth of predators by it, death of predators; a year each.
extern "C" void populations(const double* rates, const double* start, int years, int substeps, double* history) {
  State s = {start[0], start[1]};
  for (int year = 0; year < years; year++) {
    for (int i = 0; i < 2; i++) history[2 * year + i] = s[i];
    for (int i = 0; i < substeps; i++) s = step(s, 1.0 / substeps, rates);
  }
}
