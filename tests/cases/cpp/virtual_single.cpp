// A virtual method called through a base reference; which object it is can be seen at compile time.
// Forward mode wrong, unless devirtualised (-fstrict-vtable-pointers).
#include <cmath>

namespace {

struct Potential {
  virtual double energy(double r) const = 0;
};

struct Morse final : Potential {
  double depth, width;
  Morse(double d, double w) : depth(d), width(w) {}
  double energy(double r) const override {
    double e = 1.0 - std::exp(-width * (r - 1.0));
    return depth * e * e;
  }
};

double total(const Potential& potential, const double* r, int n) {
  double e = 0.0;
  for (int i = 0; i < n; i++) e += potential.energy(r[i]);
  return e;
}

}  // namespace

extern "C" double morse_energy(const double* r, double depth, double width, int n) {
  Morse morse(depth, width);
  return total(morse, r, n);
}
