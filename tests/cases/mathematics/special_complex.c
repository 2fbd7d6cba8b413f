// Complex functions and division: a transfer function and its group of elementary functions.
#include <complex.h>

void transfer(const double* w, double r, double c, int n, double* out) {
  for (int i = 0; i < n; i++) {
    double complex s = r * 0.3 + w[i] * I;
    double complex h = (1.0 + s * c) / (s * s + r * s + 1.0);
    double complex z = cexp(-0.2 * s) * h + clog(h + 2.0) + csqrt(s) / cpow(s, 0.3 + 0.1 * I);
    out[2 * i] = creal(z) + cabs(h);
    out[2 * i + 1] = cimag(z) + carg(s);
  }
}
