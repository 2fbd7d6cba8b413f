// Energy of gravitating bodies: structs in a std::vector, zero-initialised arrays inside them.
#include <array>
#include <cmath>
#include <vector>

namespace {

struct Body {
  std::array<double, 3> r{}, v{};
  double mass = 0.0;
};

}  // namespace

extern "C" double nbody_energy(const double* position, const double* velocity, const double* mass, int n) {
  std::vector<Body> bodies(n);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      bodies[i].r[k] = position[3 * i + k];
      bodies[i].v[k] = velocity[3 * i + k];
    }
    bodies[i].mass = mass[i];
  }
  double energy = 0.0;
  for (int i = 0; i < n; i++) {
    for (double v : bodies[i].v) energy += 0.5 * bodies[i].mass * v * v;
    for (int j = 0; j < i; j++) {
      double r2 = 1e-2;
      for (int k = 0; k < 3; k++) r2 += (bodies[i].r[k] - bodies[j].r[k]) * (bodies[i].r[k] - bodies[j].r[k]);
      energy -= bodies[i].mass * bodies[j].mass / std::sqrt(r2);
    }
  }
  return energy;
}
