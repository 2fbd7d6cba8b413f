// Cross sections from the poles of resonances, broadened by temperature: complex arithmetic and the Faddeeva function. The kind of RSBench.
#include <complex.h>
#include <math.h>
#include <stdint.h>

enum { WAVES = 4, TERMS = 10 };
static const double PI = 3.14159265358979323846;

static double drawn(uint64_t place) {
  uint64_t bits = (place + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 31)) * 0xd6e8feb86659fd93u;
  return (double)((bits ^ (bits >> 32)) >> 11) * 0x1p-53;
}

// w(z) for Im z > 0: far out by two poles, else by a Fourier series of period 12 (Abrarov and Quine).
static double complex faddeeva(double complex z) {
  if (creal(z) * creal(z) + cimag(z) * cimag(z) > 36) {
    double complex square = z * z;
    return I * z * (0.5124242 / (square - 0.2752551) + 0.05176536 / (square - 2.724745));
  }
  double complex turn = cexp(12 * I * z), sum = I * (1 - turn) / (12 * z);
  double complex series = 0;
  for (int n = 1; n <= TERMS; n++) {
    double share = exp(-n * n * PI * PI / 144), sign = n % 2 ? -1 : 1;
    series += share * (sign * turn - 1) / (n * n * PI * PI - 144 * z * z);
  }
  return sum + 24 * I * z * series;
}

// The phases of the waves at an energy, as factors exp(-2 i phase).
static void wave_factors(const double *radius, double root, double complex *factor) {
  for (int l = 0; l < WAVES; l++) {
    double x = radius[l] * root, phase = x;
    if (l == 1) phase -= atan(x);
    if (l == 2) phase -= atan(3 * x / (3 - x * x));
    if (l == 3) phase -= atan(x * (15 - x * x) / (15 - 6 * x * x));
    factor[l] = cexp(-2 * I * phase);
  }
}

// Adds total, absorption and fission of one nuclide. A pole is its place, and its residues for the three; a window has a range of poles
// and a smooth part.
static void add_nuclide(const double *poles, const int *wave, const double *smooth, const int *range,
                        const double *radius, double energy, double width, double density, double *total) {
  double complex factor[WAVES];
  double root = sqrt(energy), xs[3];
  wave_factors(radius, root, factor);
  for (int c = 0; c < 3; c++) xs[c] = energy * smooth[c];
  for (int k = range[0]; k < range[1]; k++) {
    const double *p = poles + 8 * k;
    double complex z = (root - (p[0] + p[1] * I)) * width;
    double complex w = faddeeva(z) * width / energy;
    xs[0] += creal((p[2] + p[3] * I) * factor[wave[k]] * w);
    xs[1] += creal((p[4] + p[5] * I) * w);
    xs[2] += creal((p[6] + p[7] * I) * w);
  }
  for (int c = 0; c < 3; c++) total[c] += density * xs[c];
}

void multipole(const double *poles, const double *smooth, const double *radius, const double *density,
               const double *width, const int *wave, const int *range, int nuclides, int count, int windows,
               int lookups, double *total) {
#pragma omp parallel for
  for (int i = 0; i < lookups; i++) {
    double energy = 0.01 + 0.98 * drawn(i), sum[3] = {0};
    int window = (int)(energy * windows);
    for (int k = 0; k < nuclides; k++) {
      int at = k * windows + window;
      add_nuclide(poles + (long)k * count * 8, wave + k * count, smooth + 3 * at, range + 2 * at, radius + WAVES * k,
                  energy, width[k], density[k], sum);
    }
    for (int c = 0; c < 3; c++) total[3 * i + c] = sum[c];
  }
}
