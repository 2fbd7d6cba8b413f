// By hand: every pair once, the force with both signs. dreturn is taken as 1.
#include <cstring>

#include "nbody.cpp"

extern "C" double primal(const double* position, const double* velocity, const double* mass, int n) {
  return energy(position, velocity, mass, n);
}

extern "C" void gradient(const double* __restrict position, const double* __restrict velocity,
                         const double* __restrict mass, int n, double* __restrict dposition,
                         double* __restrict dvelocity, double* __restrict dmass) {
  std::memset(dposition, 0, 3 * n * sizeof(double));
  std::memset(dmass, 0, n * sizeof(double));
  for (int i = 0; i < n; i++) {
    const double *r = position + 3 * i, *v = velocity + 3 * i;
    double fx = 0.0, fy = 0.0, fz = 0.0, potential = 0.0;
    for (int j = 0; j < i; j++) {
      const double x = r[0] - position[3 * j], y = r[1] - position[3 * j + 1], z = r[2] - position[3 * j + 2];
      const double inverse = 1.0 / std::sqrt(x * x + y * y + z * z + SOFTENING);
      potential += mass[j] * inverse;
      dmass[j] -= mass[i] * inverse;
      const double pull = mass[i] * mass[j] * inverse * inverse * inverse;
      fx += pull * x;
      fy += pull * y;
      fz += pull * z;
      dposition[3 * j] -= pull * x;
      dposition[3 * j + 1] -= pull * y;
      dposition[3 * j + 2] -= pull * z;
    }
    dposition[3 * i] += fx;
    dposition[3 * i + 1] += fy;
    dposition[3 * i + 2] += fz;
    dmass[i] += 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) - potential;
    for (int k = 0; k < 3; k++) dvelocity[3 * i + k] = mass[i] * v[k];
  }
}
