// Local classes with virtual methods, the object chosen at run time by an integer array.
// As with function pointers: the reverse mode is right, the forward mode wrong.
#include <cmath>

namespace {

struct Material {
  virtual double stress(double strain) const = 0;
};

struct Linear : Material {
  double modulus;
  explicit Linear(double e) : modulus(e) {}
  double stress(double strain) const override { return modulus * strain; }
};

struct Stiffening : Material {
  double modulus;
  explicit Stiffening(double e) : modulus(e) {}
  double stress(double strain) const override { return modulus * (std::exp(strain) - 1.0); }
};

}  // namespace

extern "C" void stresses(const double* strain, const int* kind, double modulus, int n, double* stress) {
  Linear linear(modulus);
  Stiffening stiffening(2.0 * modulus);
  for (int i = 0; i < n; i++) {
    const Material* material = &linear;
    if (kind[i] == 1) material = &stiffening;
    stress[i] = material->stress(strain[i]);
  }
}
