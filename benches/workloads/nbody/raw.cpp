// What a user of Enzyme alone writes.
#include <cstring>

#include "nbody.cpp"

extern int enzyme_dup, enzyme_const;
extern "C" double __enzyme_autodiff(void*, ...);

extern "C" void gradient(const double* position, const double* velocity, const double* mass, int n, double* dposition,
                         double* dvelocity, double* dmass) {
  std::memset(dposition, 0, 3 * n * sizeof(double));
  std::memset(dvelocity, 0, 3 * n * sizeof(double));
  std::memset(dmass, 0, n * sizeof(double));
  __enzyme_autodiff((void*)energy, enzyme_dup, position, dposition, enzyme_dup, velocity, dvelocity, enzyme_dup, mass,
                    dmass, enzyme_const, n);
}
