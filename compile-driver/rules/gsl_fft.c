/* Fourier transforms of GSL, of complex and real numbers. They are linear: the derivative is the same transform of the derivative, and the adjoint
 * the transform in the other direction. GSL computes all of them.
 *
 * Source: GSL's reference manual, "Fast Fourier Transforms", for names, signs and how the parts are stored; Giles, "Collected matrix derivative
 * results for forward and reverse mode algorithmic differentiation" (2008), for linear maps.
 */
#include <ffgrad/derivatives.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_REPLACES(gsl_fft_complex_backward, ffgrad_gsl_fft_complex_backward)
FFGRAD_REPLACES(gsl_fft_complex_forward, ffgrad_gsl_fft_complex_forward)
FFGRAD_REPLACES(gsl_fft_complex_inverse, ffgrad_gsl_fft_complex_inverse)
FFGRAD_REPLACES(gsl_fft_complex_radix2_backward, ffgrad_gsl_fft_complex_radix2_backward)
FFGRAD_REPLACES(gsl_fft_complex_radix2_forward, ffgrad_gsl_fft_complex_radix2_forward)
FFGRAD_REPLACES(gsl_fft_complex_radix2_inverse, ffgrad_gsl_fft_complex_radix2_inverse)
FFGRAD_REPLACES(gsl_fft_complex_wavetable_alloc, ffgrad_gsl_fft_complex_wavetable_alloc)
FFGRAD_REPLACES(gsl_fft_complex_wavetable_free, ffgrad_gsl_fft_complex_wavetable_free)
FFGRAD_REPLACES(gsl_fft_complex_workspace_alloc, ffgrad_gsl_fft_complex_workspace_alloc)
FFGRAD_REPLACES(gsl_fft_complex_workspace_free, ffgrad_gsl_fft_complex_workspace_free)
FFGRAD_REPLACES(gsl_fft_halfcomplex_backward, ffgrad_gsl_fft_halfcomplex_backward)
FFGRAD_REPLACES(gsl_fft_halfcomplex_inverse, ffgrad_gsl_fft_halfcomplex_inverse)
FFGRAD_REPLACES(gsl_fft_halfcomplex_radix2_backward, ffgrad_gsl_fft_halfcomplex_radix2_backward)
FFGRAD_REPLACES(gsl_fft_halfcomplex_radix2_inverse, ffgrad_gsl_fft_halfcomplex_radix2_inverse)
FFGRAD_REPLACES(gsl_fft_halfcomplex_radix2_transform, ffgrad_gsl_fft_halfcomplex_radix2_transform)
FFGRAD_REPLACES(gsl_fft_halfcomplex_radix2_unpack, ffgrad_gsl_fft_halfcomplex_radix2_unpack)
FFGRAD_REPLACES(gsl_fft_halfcomplex_transform, ffgrad_gsl_fft_halfcomplex_transform)
FFGRAD_REPLACES(gsl_fft_halfcomplex_unpack, ffgrad_gsl_fft_halfcomplex_unpack)
FFGRAD_REPLACES(gsl_fft_halfcomplex_wavetable_alloc, ffgrad_gsl_fft_halfcomplex_wavetable_alloc)
FFGRAD_REPLACES(gsl_fft_halfcomplex_wavetable_free, ffgrad_gsl_fft_halfcomplex_wavetable_free)
FFGRAD_REPLACES(gsl_fft_real_radix2_transform, ffgrad_gsl_fft_real_radix2_transform)
FFGRAD_REPLACES(gsl_fft_real_transform, ffgrad_gsl_fft_real_transform)
FFGRAD_REPLACES(gsl_fft_real_wavetable_alloc, ffgrad_gsl_fft_real_wavetable_alloc)
FFGRAD_REPLACES(gsl_fft_real_wavetable_free, ffgrad_gsl_fft_real_wavetable_free)
FFGRAD_REPLACES(gsl_fft_real_workspace_alloc, ffgrad_gsl_fft_real_workspace_alloc)
FFGRAD_REPLACES(gsl_fft_real_workspace_free, ffgrad_gsl_fft_real_workspace_free)

#define G(name) ffgrad_gsl_fft_##name

/* GSL's own: objects are integers here and the data marked, because nothing of the program's is kept. */
#define KEPT_NOWHERE __attribute__((noescape))
extern long gsl_fft_complex_wavetable_alloc(size_t);
extern void gsl_fft_complex_wavetable_free(long);
extern long gsl_fft_complex_workspace_alloc(size_t);
extern void gsl_fft_complex_workspace_free(long);
extern int gsl_fft_complex_forward(double *KEPT_NOWHERE, size_t, size_t, long, long);
extern int gsl_fft_complex_backward(double *KEPT_NOWHERE, size_t, size_t, long, long);
extern long gsl_fft_real_wavetable_alloc(size_t);
extern void gsl_fft_real_wavetable_free(long);
extern long gsl_fft_real_workspace_alloc(size_t);
extern void gsl_fft_real_workspace_free(long);
extern int gsl_fft_real_transform(double *KEPT_NOWHERE, size_t, size_t, long, long);
extern long gsl_fft_halfcomplex_wavetable_alloc(size_t);
extern void gsl_fft_halfcomplex_wavetable_free(long);
extern int gsl_fft_halfcomplex_transform(double *KEPT_NOWHERE, size_t, size_t, long, long);
extern int gsl_fft_real_radix2_transform(double *KEPT_NOWHERE, size_t, size_t);
extern int gsl_fft_halfcomplex_radix2_backward(double *KEPT_NOWHERE, size_t, size_t);

/* Without a factor: complex numbers forward and back, real numbers to half of their transform and back, and these two as radix 2 stores them. */
enum { FORWARD, BACKWARD, REAL, HALF, REAL_RADIX2, HALF_RADIX2 };

int ffgrad_gsl_fft(int kind, double *data, size_t stride, size_t n) {
  int status;
  if (kind == FORWARD || kind == BACKWARD) {
    long table = gsl_fft_complex_wavetable_alloc(n), work = gsl_fft_complex_workspace_alloc(n);
    status = kind == FORWARD ? gsl_fft_complex_forward(data, stride, n, table, work)
                             : gsl_fft_complex_backward(data, stride, n, table, work);
    gsl_fft_complex_wavetable_free(table);
    gsl_fft_complex_workspace_free(work);
  } else if (kind == REAL) {
    long table = gsl_fft_real_wavetable_alloc(n), work = gsl_fft_real_workspace_alloc(n);
    status = gsl_fft_real_transform(data, stride, n, table, work);
    gsl_fft_real_wavetable_free(table);
    gsl_fft_real_workspace_free(work);
  } else if (kind == HALF) {
    long table = gsl_fft_halfcomplex_wavetable_alloc(n), work = gsl_fft_real_workspace_alloc(n);
    status = gsl_fft_halfcomplex_transform(data, stride, n, table, work);
    gsl_fft_halfcomplex_wavetable_free(table);
    gsl_fft_real_workspace_free(work);
  } else {
    status = kind == REAL_RADIX2 ? gsl_fft_real_radix2_transform(data, stride, n)
                                 : gsl_fft_halfcomplex_radix2_backward(data, stride, n);
  }
  return status;
}
int ffgrad_gsl_fft_fwd(int kind, double *data, double *ddata, size_t stride, size_t n) {
  if (ddata) ffgrad_gsl_fft(kind, ddata, stride, n);
  return ffgrad_gsl_fft(kind, data, stride, n);
}
/* All parts but those of the frequencies that are real: they stand for two. */
static void weigh(int kind, double *data, size_t stride, size_t n, double factor) {
  int radix2 = kind == REAL_RADIX2 || kind == HALF_RADIX2;
  for (size_t i = 1; i < n; i++) {
    int real = n % 2 == 0 && (radix2 ? 2 * i == n : i == n - 1);
    if (!real) data[i * stride] *= factor;
  }
}
void ffgrad_gsl_fft_rev(int kind, double *data, double *ddata, size_t stride, size_t n) {
  if (!ddata) return;
  if (kind == FORWARD || kind == BACKWARD) {
    ffgrad_gsl_fft(kind == FORWARD ? BACKWARD : FORWARD, ddata, stride, n);
  } else if (kind == REAL || kind == REAL_RADIX2) {
    weigh(kind, ddata, stride, n, 0.5);
    ffgrad_gsl_fft(kind == REAL ? HALF : HALF_RADIX2, ddata, stride, n);
  } else {
    ffgrad_gsl_fft(kind == HALF ? REAL : REAL_RADIX2, ddata, stride, n);
    weigh(kind, ddata, stride, n, 2);
  }
}
FFGRAD_DERIVATIVES(ffgrad_gsl_fft, ffgrad_gsl_fft_fwd, ffgrad_gsl_fft_rev);

static inline int over(double *data, size_t stride, size_t n, int status) {
  for (size_t i = 0; i < n; i++) data[i * stride] /= (double)n;
  return status;
}
static inline int complex_over(double *data, size_t stride, size_t n, int status) {
  for (size_t i = 0; i < n; i++) {
    data[2 * i * stride] /= (double)n;
    data[2 * i * stride + 1] /= (double)n;
  }
  return status;
}
int G(complex_forward)(double *x, size_t stride, size_t n, const void *table, void *work) { return ffgrad_gsl_fft(FORWARD, x, stride, n); }
int G(complex_backward)(double *x, size_t stride, size_t n, const void *table, void *work) { return ffgrad_gsl_fft(BACKWARD, x, stride, n); }
int G(complex_inverse)(double *x, size_t stride, size_t n, const void *table, void *work) {
  return complex_over(x, stride, n, ffgrad_gsl_fft(BACKWARD, x, stride, n));
}
int G(complex_radix2_forward)(double *x, size_t stride, size_t n) { return ffgrad_gsl_fft(FORWARD, x, stride, n); }
int G(complex_radix2_backward)(double *x, size_t stride, size_t n) { return ffgrad_gsl_fft(BACKWARD, x, stride, n); }
int G(complex_radix2_inverse)(double *x, size_t stride, size_t n) {
  return complex_over(x, stride, n, ffgrad_gsl_fft(BACKWARD, x, stride, n));
}
int G(real_transform)(double *x, size_t stride, size_t n, const void *table, void *work) { return ffgrad_gsl_fft(REAL, x, stride, n); }
int G(halfcomplex_transform)(double *x, size_t stride, size_t n, const void *table, void *work) { return ffgrad_gsl_fft(HALF, x, stride, n); }
int G(halfcomplex_backward)(double *x, size_t stride, size_t n, const void *table, void *work) { return ffgrad_gsl_fft(HALF, x, stride, n); }
int G(halfcomplex_inverse)(double *x, size_t stride, size_t n, const void *table, void *work) {
  return over(x, stride, n, ffgrad_gsl_fft(HALF, x, stride, n));
}
int G(real_radix2_transform)(double *x, size_t stride, size_t n) { return ffgrad_gsl_fft(REAL_RADIX2, x, stride, n); }
int G(halfcomplex_radix2_backward)(double *x, size_t stride, size_t n) { return ffgrad_gsl_fft(HALF_RADIX2, x, stride, n); }
int G(halfcomplex_radix2_transform)(double *x, size_t stride, size_t n) { return ffgrad_gsl_fft(HALF_RADIX2, x, stride, n); }
int G(halfcomplex_radix2_inverse)(double *x, size_t stride, size_t n) {
  return over(x, stride, n, ffgrad_gsl_fft(HALF_RADIX2, x, stride, n));
}

/* All frequencies of the half that is stored. */
static inline void unpack(const double *half, double *to, size_t stride, size_t n, int radix2) {
  for (size_t k = 0; k < n; k++) {
    size_t low = k <= n / 2 ? k : n - k;
    int real = low == 0 || 2 * low == n;
    size_t first = radix2 || low == 0 ? low : 2 * low - 1, second = radix2 ? n - low : 2 * low;
    double imaginary = real ? 0 : half[second * stride];
    to[2 * k * stride] = half[first * stride];
    to[2 * k * stride + 1] = k == low ? imaginary : -imaginary;
  }
}
int G(halfcomplex_unpack)(const double *half, double *to, size_t stride, size_t n) {
  unpack(half, to, stride, n, 0);
  return 0;
}
int G(halfcomplex_radix2_unpack)(const double *half, double *to, size_t stride, size_t n) {
  unpack(half, to, stride, n, 1);
  return 0;
}

/* The caller's tables are not used: GSL is given others. */
static inline void *unused(void) {
  int *made = malloc(sizeof(int));
  *made = 0;
  return made;
}
void *G(complex_wavetable_alloc)(size_t n) { return unused(); }
void G(complex_wavetable_free)(void *table) { free(table); }
void *G(complex_workspace_alloc)(size_t n) { return unused(); }
void G(complex_workspace_free)(void *work) { free(work); }
void *G(real_wavetable_alloc)(size_t n) { return unused(); }
void G(real_wavetable_free)(void *table) { free(table); }
void *G(real_workspace_alloc)(size_t n) { return unused(); }
void G(real_workspace_free)(void *work) { free(work); }
void *G(halfcomplex_wavetable_alloc)(size_t n) { return unused(); }
void G(halfcomplex_wavetable_free)(void *table) { free(table); }
