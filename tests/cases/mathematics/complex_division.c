// C99 complex division, lowered to __divdc3, which Enzyme gets silently wrong in both modes:
// the gain of a loaded RLC filter.
#include <complex.h>

void gain(const double* omega, double R, double L, double C, int n, double* power) {
  for (int i = 0; i < n; i++) {
    double complex series = R + I * omega[i] * L;
    double complex load = (1.0 + 0.3 * I * omega[i]) / (0.2 + I * omega[i] * C);
    double complex h = load / (series + load);
    power[i] = creal(h) * creal(h) + cimag(h) * cimag(h);
  }
}
