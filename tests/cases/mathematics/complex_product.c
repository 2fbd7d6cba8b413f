// C99 complex arithmetic without division: points iterated under z -> z^2 + c.
#include <complex.h>

void iterate(const double* re, const double* im, int n, double* size) {
  for (int i = 0; i < n; i++) {
    double complex c = re[i] + I * im[i], z = 0.0;
    for (int k = 0; k < 5; k++) z = z * z + c;
    size[i] = creal(z * conj(z));
  }
}
