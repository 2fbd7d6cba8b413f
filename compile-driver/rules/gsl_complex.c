/* Complex numbers of GSL, their vectors, and eigenvalues of matrices that are not symmetric: the numbers as code that Enzyme differentiates,
 * eigenvalues by GSL itself with derivatives in closed form. Where two eigenvalues are equal, these do not exist and are not-a-number.
 *
 * Source: GSL's reference manual for names and arguments; Magnus, "On differentiating eigenvalues and eigenvectors" (1985).
 */
#include <complex.h>
#include <ffgrad/derivatives.h>
#include <ffgrad/rules/gsl_vector.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_REPLACES(gsl_complex_abs, ffgrad_gsl_complex_abs)
FFGRAD_REPLACES(gsl_complex_abs2, ffgrad_gsl_complex_abs2)
FFGRAD_REPLACES(gsl_complex_add, ffgrad_gsl_complex_add)
FFGRAD_REPLACES(gsl_complex_add_real, ffgrad_gsl_complex_add_real)
FFGRAD_REPLACES(gsl_complex_arg, ffgrad_gsl_complex_arg)
FFGRAD_REPLACES(gsl_complex_conjugate, ffgrad_gsl_complex_conjugate)
FFGRAD_REPLACES(gsl_complex_div, ffgrad_gsl_complex_div)
FFGRAD_REPLACES(gsl_complex_div_real, ffgrad_gsl_complex_div_real)
FFGRAD_REPLACES(gsl_complex_exp, ffgrad_gsl_complex_exp)
FFGRAD_REPLACES(gsl_complex_inverse, ffgrad_gsl_complex_inverse)
FFGRAD_REPLACES(gsl_complex_log, ffgrad_gsl_complex_log)
FFGRAD_REPLACES(gsl_complex_logabs, ffgrad_gsl_complex_logabs)
FFGRAD_REPLACES(gsl_complex_mul, ffgrad_gsl_complex_mul)
FFGRAD_REPLACES(gsl_complex_mul_imag, ffgrad_gsl_complex_mul_imag)
FFGRAD_REPLACES(gsl_complex_mul_real, ffgrad_gsl_complex_mul_real)
FFGRAD_REPLACES(gsl_complex_negative, ffgrad_gsl_complex_negative)
FFGRAD_REPLACES(gsl_complex_polar, ffgrad_gsl_complex_polar)
FFGRAD_REPLACES(gsl_complex_rect, ffgrad_gsl_complex_rect)
FFGRAD_REPLACES(gsl_complex_sqrt, ffgrad_gsl_complex_sqrt)
FFGRAD_REPLACES(gsl_complex_sub, ffgrad_gsl_complex_sub)
FFGRAD_REPLACES(gsl_complex_sub_real, ffgrad_gsl_complex_sub_real)
FFGRAD_REPLACES(gsl_eigen_nonsymm, ffgrad_gsl_eigen_nonsymm)
FFGRAD_REPLACES(gsl_eigen_nonsymm_alloc, ffgrad_gsl_eigen_nonsymm_alloc)
FFGRAD_REPLACES(gsl_eigen_nonsymm_free, ffgrad_gsl_eigen_nonsymm_free)
FFGRAD_REPLACES(gsl_vector_complex_alloc, ffgrad_gsl_vector_complex_alloc)
FFGRAD_REPLACES(gsl_vector_complex_calloc, ffgrad_gsl_vector_complex_calloc)
FFGRAD_REPLACES(gsl_vector_complex_free, ffgrad_gsl_vector_complex_free)
FFGRAD_REPLACES(gsl_vector_complex_get, ffgrad_gsl_vector_complex_get)
FFGRAD_REPLACES(gsl_vector_complex_set, ffgrad_gsl_vector_complex_set)

#define G(name) ffgrad_gsl_##name
#define EACH(i, n) for (size_t i = 0; i < (n); i++)

typedef struct {
  double dat[2];
} number;
#define RE(z) ((z).dat[0])
#define IM(z) ((z).dat[1])
static inline number made_of(double re, double im) { return (number){{re, im}}; }

number G(complex_rect)(double x, double y) { return made_of(x, y); }
number G(complex_polar)(double r, double angle) { return made_of(r * cos(angle), r * sin(angle)); }
/* At 0 neither has a derivative: hypot's own there. */
double G(complex_abs)(number z) { return hypot(RE(z), IM(z)); }
double G(complex_abs2)(number z) { return RE(z) * RE(z) + IM(z) * IM(z); }
/* Not by atan2, which becomes a built-in that Enzyme does not know. */
double G(complex_arg)(number z) {
  const double half_turn = 3.14159265358979323846;
  double x = RE(z), y = IM(z);
  if (x == 0 && y == 0) return 0;
  if (fabs(x) < fabs(y)) return (y > 0 ? 0.5 : -0.5) * half_turn - atan(x / y);
  return atan(y / x) + (x > 0 ? 0 : y >= 0 ? half_turn : -half_turn);
}
double G(complex_logabs)(number z) {
  double x = fabs(RE(z)), y = fabs(IM(z)), most = x > y ? x : y, ratio = (x > y ? y : x) / most;
  return log(most) + 0.5 * log1p(ratio * ratio);
}
number G(complex_add)(number a, number b) { return made_of(RE(a) + RE(b), IM(a) + IM(b)); }
number G(complex_sub)(number a, number b) { return made_of(RE(a) - RE(b), IM(a) - IM(b)); }
number G(complex_mul)(number a, number b) { return made_of(RE(a) * RE(b) - IM(a) * IM(b), RE(a) * IM(b) + IM(a) * RE(b)); }
number G(complex_div)(number a, number b) {
  double s = 1 / hypot(RE(b), IM(b)), x = s * RE(b), y = s * IM(b);
  return made_of((RE(a) * x + IM(a) * y) * s, (IM(a) * x - RE(a) * y) * s);
}
number G(complex_inverse)(number z) { return G(complex_div)(made_of(1, 0), z); }
number G(complex_add_real)(number a, double x) { return made_of(RE(a) + x, IM(a)); }
number G(complex_sub_real)(number a, double x) { return made_of(RE(a) - x, IM(a)); }
number G(complex_mul_real)(number a, double x) { return made_of(x * RE(a), x * IM(a)); }
number G(complex_div_real)(number a, double x) { return made_of(RE(a) / x, IM(a) / x); }
number G(complex_mul_imag)(number a, double y) { return made_of(-y * IM(a), y * RE(a)); }
number G(complex_conjugate)(number z) { return made_of(RE(z), -IM(z)); }
number G(complex_negative)(number z) { return made_of(-RE(z), -IM(z)); }
number G(complex_exp)(number z) { return G(complex_polar)(exp(RE(z)), IM(z)); }
number G(complex_log)(number z) { return made_of(G(complex_logabs)(z), G(complex_arg)(z)); }
number G(complex_sqrt)(number z) {
  if (RE(z) == 0 && IM(z) == 0) return made_of(0, 0);
  double far = sqrt(0.5 * (hypot(RE(z), IM(z)) + fabs(RE(z)))), near = IM(z) / (2 * far);
  if (RE(z) >= 0) return made_of(far, near);
  return IM(z) >= 0 ? made_of(near, far) : made_of(-near, -far);
}

/* Vectors: pairs of numbers, `stride` pairs apart. */
void *G(vector_complex_calloc)(size_t n) {
  vector *v = malloc(sizeof(vector));
  *v = (vector){n, 1, calloc(2 * n, sizeof(double)), NULL, 1};
  return v;
}
void *G(vector_complex_alloc)(size_t n) { return G(vector_complex_calloc)(n); }
void G(vector_complex_free)(vector *v) {
  if (!v) return;
  free(v->data);
  free(v);
}
number G(vector_complex_get)(const vector *v, size_t i) { return made_of(v->data[2 * i * v->stride], v->data[2 * i * v->stride + 1]); }
void G(vector_complex_set)(vector *v, size_t i, number z) {
  v->data[2 * i * v->stride] = RE(z);
  v->data[2 * i * v->stride + 1] = IM(z);
}

/* GSL's own: workspaces are integers here, because nothing of the program's is kept in them. */
#define KEPT_NOWHERE __attribute__((noescape))
extern long gsl_eigen_nonsymm_alloc(size_t);
extern void gsl_eigen_nonsymm_free(long);
extern int gsl_eigen_nonsymm(matrix *KEPT_NOWHERE, vector *KEPT_NOWHERE, long);
extern long gsl_eigen_nonsymmv_alloc(size_t);
extern void gsl_eigen_nonsymmv_free(long);
extern int gsl_eigen_nonsymmv(matrix *KEPT_NOWHERE, vector *KEPT_NOWHERE, vector *KEPT_NOWHERE, long);

/* The eigenvalues of a matrix, which is overwritten. */
int ffgrad_gsl_nonsymm(size_t n, double *a, size_t tda, double *w, size_t stride) {
  matrix full = {n, n, tda, a, NULL, 0};
  vector values = {n, stride, w, NULL, 0};
  long work = gsl_eigen_nonsymm_alloc(n);
  int status = gsl_eigen_nonsymm(&full, &values, work);
  gsl_eigen_nonsymm_free(work);
  return status;
}
typedef double _Complex complex_number;
/* Inverts a matrix by elimination with row exchanges. */
static void invert(size_t n, complex_number *a, complex_number *to) {
  EACH(i, n) EACH(j, n) to[i * n + j] = i == j;
  EACH(k, n) {
    size_t p = k;
    for (size_t i = k + 1; i < n; i++)
      if (cabs(a[i * n + k]) > cabs(a[p * n + k])) p = i;
    EACH(j, n) {
      complex_number x = a[k * n + j], y = to[k * n + j];
      a[k * n + j] = a[p * n + j], to[k * n + j] = to[p * n + j];
      a[p * n + j] = x, to[p * n + j] = y;
    }
    complex_number pivot = a[k * n + k];
    EACH(j, n) a[k * n + j] /= pivot, to[k * n + j] /= pivot;
    EACH(i, n) {
      complex_number factor = a[i * n + k];
      if (i != k) EACH(j, n) a[i * n + j] -= factor * a[k * n + j], to[i * n + j] -= factor * to[k * n + j];
    }
  }
}
/* For each eigenvalue in the order of `w` the matrix of its slopes by the elements: left vector times right vector. */
static complex_number *slopes_of(size_t n, double *a, const double *w, size_t stride) {
  complex_number *v = calloc(3 * n * n + n + n * n * n + 1, sizeof(complex_number)), *own = v + n * n, *inverse = own + n;
  complex_number *copy = inverse + n * n, *slopes = copy + n * n, *result = calloc(n * n * n + 1, sizeof(complex_number));
  matrix full = {n, n, n, a, NULL, 0};
  /* A matrix of complex numbers begins as one of real numbers does. */
  matrix vectors = {n, n, n, (double *)v, NULL, 0};
  vector values = {n, 1, (double *)own, NULL, 0};
  long work = gsl_eigen_nonsymmv_alloc(n);
  gsl_eigen_nonsymmv(&full, &values, (vector *)&vectors, work);
  gsl_eigen_nonsymmv_free(work);
  memcpy(copy, v, n * n * sizeof(complex_number));
  invert(n, copy, inverse);
  double most = 0;
  EACH(k, n) most = fmax(most, cabs(own[k]));
  EACH(k, n) {
    double gap = INFINITY;
    EACH(l, n) gap = l == k ? gap : fmin(gap, cabs(own[l] - own[k]));
    int equal = n > 1 && gap <= 64 * 2.2204460492503131e-16 * most;
    EACH(i, n) EACH(j, n) slopes[(k * n + i) * n + j] = equal ? NAN : inverse[k * n + i] * v[j * n + k];
  }
  /* With vectors GSL may give the values in another order. */
  EACH(k, n) {
    complex_number asked = w[2 * k * stride] + I * w[2 * k * stride + 1];
    size_t best = 0;
    EACH(l, n) if (cabs(own[l] - asked) < cabs(own[best] - asked)) best = l;
    memcpy(result + k * n * n, slopes + best * n * n, n * n * sizeof(complex_number));
  }
  free(v);
  return result;
}
static double *copied(size_t n, const double *a, size_t tda) {
  double *copy = calloc(n * n + 1, sizeof(double));
  EACH(i, n) EACH(j, n) copy[i * n + j] = a[i * tda + j];
  return copy;
}
int ffgrad_gsl_nonsymm_fwd(size_t n, double *a, double *da, size_t tda, double *w, double *dw, size_t stride) {
  double *copy = copied(n, a, tda);
  int status = ffgrad_gsl_nonsymm(n, a, tda, w, stride);
  complex_number *slopes = slopes_of(n, copy, w, stride);
  EACH(k, n) {
    complex_number sum = 0;
    if (da) EACH(i, n) EACH(j, n) sum += slopes[(k * n + i) * n + j] * da[i * tda + j];
    if (dw) dw[2 * k * stride] = creal(sum), dw[2 * k * stride + 1] = cimag(sum);
  }
  if (da) EACH(i, n) EACH(j, n) da[i * tda + j] = 0;
  free(copy), free(slopes);
  return status;
}
void *ffgrad_gsl_nonsymm_save(size_t n, double *a, size_t tda, double *w, size_t stride, int *status) {
  double *copy = copied(n, a, tda);
  *status = ffgrad_gsl_nonsymm(n, a, tda, w, stride);
  complex_number *slopes = slopes_of(n, copy, w, stride);
  free(copy);
  return slopes;
}
void ffgrad_gsl_nonsymm_rev(size_t n, double *a, double *da, size_t tda, double *w, double *dw, size_t stride, void *saved) {
  const complex_number *slopes = saved;
  if (da) EACH(i, n) EACH(j, n) {
    double sum = 0;
    if (dw) EACH(k, n) {
      complex_number slope = slopes[(k * n + i) * n + j];
      sum += creal(slope) * dw[2 * k * stride] + cimag(slope) * dw[2 * k * stride + 1];
    }
    da[i * tda + j] = sum;
  }
  if (dw) EACH(k, n) dw[2 * k * stride] = dw[2 * k * stride + 1] = 0;
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(ffgrad_gsl_nonsymm, ffgrad_gsl_nonsymm_fwd, ffgrad_gsl_nonsymm_rev, ffgrad_gsl_nonsymm_save);

/* The caller's workspace is not used: GSL is given another. */
void *G(eigen_nonsymm_alloc)(size_t n) {
  int *made = malloc(sizeof(int));
  *made = 0;
  return made;
}
void G(eigen_nonsymm_free)(void *work) { free(work); }
int G(eigen_nonsymm)(matrix *a, vector *w, void *work) {
  return ffgrad_gsl_nonsymm(a->size1, a->data, a->tda, w->data, w->stride);
}
