/* Interpolation of GSL as code that Enzyme differentiates: by the points, their values and the place. Where GSL reports a place
 * outside of the points the value is not-a-number.
 *
 * Source: GSL's reference manual for the names and the conditions at the ends; de Boor, "A Practical Guide to Splines" (2001)
 * for cubic splines; Akima, "A new method of interpolation and smooth curve fitting" (1970); Steffen, "A simple method for
 * monotonic interpolation in one dimension" (1990).
 */
#include <ffgrad/derivatives.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_REPLACES(gsl_interp_accel_alloc, ffgrad_gsl_interp_accel_alloc)
FFGRAD_REPLACES(gsl_interp_accel_find, ffgrad_gsl_interp_accel_find)
FFGRAD_REPLACES(gsl_interp_accel_free, ffgrad_gsl_interp_accel_free)
FFGRAD_REPLACES(gsl_interp_accel_reset, ffgrad_gsl_interp_accel_reset)
FFGRAD_REPLACES(gsl_interp_akima, ffgrad_gsl_interp_akima)
FFGRAD_REPLACES(gsl_interp_akima_periodic, ffgrad_gsl_interp_akima_periodic)
FFGRAD_REPLACES(gsl_interp_alloc, ffgrad_gsl_interp_alloc)
FFGRAD_REPLACES(gsl_interp_bsearch, ffgrad_gsl_interp_bsearch)
FFGRAD_REPLACES(gsl_interp_cspline, ffgrad_gsl_interp_cspline)
FFGRAD_REPLACES(gsl_interp_cspline_periodic, ffgrad_gsl_interp_cspline_periodic)
FFGRAD_REPLACES(gsl_interp_eval, ffgrad_gsl_interp_eval)
FFGRAD_REPLACES(gsl_interp_eval_deriv, ffgrad_gsl_interp_eval_deriv)
FFGRAD_REPLACES(gsl_interp_eval_deriv2, ffgrad_gsl_interp_eval_deriv2)
FFGRAD_REPLACES(gsl_interp_eval_deriv2_e, ffgrad_gsl_interp_eval_deriv2_e)
FFGRAD_REPLACES(gsl_interp_eval_deriv_e, ffgrad_gsl_interp_eval_deriv_e)
FFGRAD_REPLACES(gsl_interp_eval_e, ffgrad_gsl_interp_eval_e)
FFGRAD_REPLACES(gsl_interp_eval_integ, ffgrad_gsl_interp_eval_integ)
FFGRAD_REPLACES(gsl_interp_eval_integ_e, ffgrad_gsl_interp_eval_integ_e)
FFGRAD_REPLACES(gsl_interp_free, ffgrad_gsl_interp_free)
FFGRAD_REPLACES(gsl_interp_init, ffgrad_gsl_interp_init)
FFGRAD_REPLACES(gsl_interp_linear, ffgrad_gsl_interp_linear)
FFGRAD_REPLACES(gsl_interp_min_size, ffgrad_gsl_interp_min_size)
FFGRAD_REPLACES(gsl_interp_name, ffgrad_gsl_interp_name)
FFGRAD_REPLACES(gsl_interp_polynomial, ffgrad_gsl_interp_polynomial)
FFGRAD_REPLACES(gsl_interp_steffen, ffgrad_gsl_interp_steffen)
FFGRAD_REPLACES(gsl_interp_type_min_size, ffgrad_gsl_interp_type_min_size)
FFGRAD_REPLACES(gsl_spline_alloc, ffgrad_gsl_spline_alloc)
FFGRAD_REPLACES(gsl_spline_eval, ffgrad_gsl_spline_eval)
FFGRAD_REPLACES(gsl_spline_eval_deriv, ffgrad_gsl_spline_eval_deriv)
FFGRAD_REPLACES(gsl_spline_eval_deriv2, ffgrad_gsl_spline_eval_deriv2)
FFGRAD_REPLACES(gsl_spline_eval_deriv2_e, ffgrad_gsl_spline_eval_deriv2_e)
FFGRAD_REPLACES(gsl_spline_eval_deriv_e, ffgrad_gsl_spline_eval_deriv_e)
FFGRAD_REPLACES(gsl_spline_eval_e, ffgrad_gsl_spline_eval_e)
FFGRAD_REPLACES(gsl_spline_eval_integ, ffgrad_gsl_spline_eval_integ)
FFGRAD_REPLACES(gsl_spline_eval_integ_e, ffgrad_gsl_spline_eval_integ_e)
FFGRAD_REPLACES(gsl_spline_free, ffgrad_gsl_spline_free)
FFGRAD_REPLACES(gsl_spline_init, ffgrad_gsl_spline_init)
FFGRAD_REPLACES(gsl_spline_min_size, ffgrad_gsl_spline_min_size)
FFGRAD_REPLACES(gsl_spline_name, ffgrad_gsl_spline_name)

#define G(name) ffgrad_gsl_##name
#define EACH(i, n) for (size_t i = 0; i < (n); i++)

/* GSL's kinds are variables that point to constants, of which programs read the first two members. So are ours. */
enum { LINEAR, POLYNOMIAL, CSPLINE, CSPLINE_PERIODIC, AKIMA, AKIMA_PERIODIC, STEFFEN };
typedef struct {
  const char *name;
  unsigned min_size;
  void *functions[7];
  int kind;
} type;
#define KIND(member, title, least, number) \
  static const type type_##member = {title, least, {0}, number}; \
  const type *const ffgrad_gsl_interp_##member = &type_##member;
KIND(linear, "linear", 2, LINEAR)
KIND(polynomial, "polynomial", 3, POLYNOMIAL)
KIND(cspline, "cspline", 3, CSPLINE)
KIND(cspline_periodic, "cspline-periodic", 2, CSPLINE_PERIODIC)
KIND(akima, "akima", 5, AKIMA)
KIND(akima_periodic, "akima-periodic", 5, AKIMA_PERIODIC)
KIND(steffen, "steffen", 3, STEFFEN)

/* With GSL's members in GSL's order; the state is ours. Between points i and i + 1 the value is
 * y[i] + t (b[i] + t (c[i] + t d[i])) at a distance t from the first; a polynomial has its divided differences in b. */
typedef struct {
  int kind;
  double *b, *c, *d;
} state;
typedef struct {
  const type *type;
  double xmin, xmax;
  size_t size;
  state *state;
} interp;
typedef struct {
  interp *interp;
  double *x, *y;
  size_t size;
} spline;
typedef struct {
  size_t cache, miss_count, hit_count;
} accelerator;

/* The accelerator only saves time in GSL. */
accelerator *G(interp_accel_alloc)(void) {
  accelerator *made = malloc(sizeof(accelerator));
  made->cache = made->miss_count = made->hit_count = 0;
  return made;
}
void G(interp_accel_free)(accelerator *a) { free(a); }
int G(interp_accel_reset)(accelerator *a) {
  a->cache = a->miss_count = a->hit_count = 0;
  return 0;
}
size_t G(interp_bsearch)(const double *x, double at, size_t low, size_t high) {
  while (high > low + 1) {
    size_t middle = low + (high - low) / 2;
    if (x[middle] > at) high = middle;
    else low = middle;
  }
  return low;
}
size_t G(interp_accel_find)(accelerator *a, const double *x, size_t n, double at) { return G(interp_bsearch)(x, at, 0, n - 1); }

interp *G(interp_alloc)(const type *kind, size_t n) {
  interp *made = malloc(sizeof(interp));
  made->type = kind;
  made->size = n;
  made->state = malloc(sizeof(state));
  made->state->kind = kind->kind;
  made->state->b = malloc(n * sizeof(double));
  made->state->c = malloc(n * sizeof(double));
  made->state->d = malloc(n * sizeof(double));
  return made;
}
void G(interp_free)(interp *given) {
  if (!given) return;
  free(given->state->b);
  free(given->state->c);
  free(given->state->d);
  free(given->state);
  free(given);
}

/* The coefficients of an interval from the slopes at its ends. */
static inline void hermite(state *s, size_t i, double width, double secant, double left, double right) {
  s->b[i] = left;
  s->c[i] = (3 * secant - 2 * left - right) / width;
  s->d[i] = (left + right - 2 * secant) / (width * width);
}
/* The same from halves of the second derivatives, which are in c. */
static void from_curvature(state *s, const double *x, const double *y, size_t n) {
  for (size_t i = 0; i + 1 < n; i++) {
    double h = x[i + 1] - x[i];
    s->b[i] = (y[i + 1] - y[i]) / h - h * (s->c[i + 1] + 2 * s->c[i]) / 3;
    s->d[i] = (s->c[i + 1] - s->c[i]) / (3 * h);
  }
}
/* The symmetric tridiagonal system of n equations, by elimination; `off[i]` stands between rows i and i + 1. */
static void tridiagonal(size_t n, const double *diagonal, const double *off, double *right) {
  double *d = malloc((n + 1) * sizeof(double));
  EACH(i, n) {
    double factor = i ? off[i - 1] / d[i - 1] : 0;
    d[i] = diagonal[i] - (i ? factor * off[i - 1] : 0);
    right[i] -= i ? factor * right[i - 1] : 0;
  }
  EACH(r, n) {
    size_t i = n - 1 - r;
    right[i] = (right[i] - (r ? off[i] * right[i + 1] : 0)) / d[i];
  }
  free(d);
}
static void natural(state *s, const double *x, const double *y, size_t n) {
  size_t m = n - 2;
  double *diagonal = malloc((m + 1) * sizeof(double)), *off = malloc((m + 1) * sizeof(double));
  double *c = malloc((m + 1) * sizeof(double));
  EACH(i, m) {
    double before = x[i + 1] - x[i], after = x[i + 2] - x[i + 1];
    diagonal[i] = 2 * (before + after);
    off[i] = after;
    c[i] = 3 * ((y[i + 2] - y[i + 1]) / after - (y[i + 1] - y[i]) / before);
  }
  tridiagonal(m, diagonal, off, c);
  s->c[0] = s->c[n - 1] = 0;
  EACH(i, m) s->c[i + 1] = c[i];
  free(diagonal);
  free(off);
  free(c);
  from_curvature(s, x, y, n);
}
/* The system closes to a circle: one element in the corners, which is taken out and put back by a correction of rank one. */
static void periodic(state *s, const double *x, const double *y, size_t n) {
  size_t m = n - 1;
  double *memory = malloc(4 * m * sizeof(double));
  double *diagonal = memory, *off = memory + m, *c = memory + 2 * m, *u = memory + 3 * m;
  EACH(i, m) {
    size_t last = i ? i - 1 : m - 1;
    double before = x[last + 1] - x[last], after = x[i + 1] - x[i];
    diagonal[i] = 2 * (before + after);
    off[i] = after;
    c[i] = 3 * ((y[i + 1] - y[i]) / after - (y[last + 1] - y[last]) / before);
    u[i] = 0;
  }
  if (m == 2) {
    double o = off[0] + off[1], det = diagonal[0] * diagonal[1] - o * o, first = c[0];
    c[0] = (diagonal[1] * first - o * c[1]) / det;
    c[1] = (diagonal[0] * c[1] - o * first) / det;
  } else {
    double corner = off[m - 1];
    diagonal[0] -= corner;
    diagonal[m - 1] -= corner;
    u[0] = u[m - 1] = corner;
    tridiagonal(m, diagonal, off, c);
    tridiagonal(m, diagonal, off, u);
    double factor = (c[0] + c[m - 1]) / (1 + u[0] + u[m - 1]);
    EACH(i, m) c[i] -= factor * u[i];
  }
  EACH(i, m) s->c[i] = c[i];
  s->c[m] = c[0];
  free(memory);
  from_curvature(s, x, y, n);
}
/* Slopes that weigh the secants of the neighbours by how much those beyond them bend. */
static void akima(state *s, const double *x, const double *y, size_t n, int is_periodic) {
  double *memory = malloc((n + 3) * sizeof(double)), *m = memory + 2;
  size_t last = n - 2;
  EACH(i, n - 1) m[i] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
  m[-1] = is_periodic ? m[last] : 2 * m[0] - m[1];
  m[-2] = is_periodic ? m[last - 1] : 3 * m[0] - 2 * m[1];
  m[last + 1] = is_periodic ? m[0] : 2 * m[last] - m[last - 1];
  m[last + 2] = is_periodic ? m[1] : 3 * m[last] - 2 * m[last - 1];
  EACH(i, n - 1) {
    const double *at = m + i;
    double here = fabs(at[1] - at[0]) + fabs(at[-1] - at[-2]), next = fabs(at[2] - at[1]) + fabs(at[0] - at[-1]);
    if (here == 0) {
      s->b[i] = at[0];
      s->c[i] = s->d[i] = 0;
      continue;
    }
    double w = fabs(at[-1] - at[-2]) / here, left = (1 - w) * at[-1] + w * at[0], right = at[0];
    if (next != 0) {
      double v = fabs(at[0] - at[-1]) / next;
      right = (1 - v) * at[0] + v * at[1];
    }
    hermite(s, i, x[i + 1] - x[i], at[0], left, right);
  }
  free(memory);
}
/* Slopes that keep the curve monotonic between the points. */
static void steffen(state *s, const double *x, const double *y, size_t n) {
  double *slope = malloc(n * sizeof(double));
  EACH(i, n) {
    size_t first = i == 0 ? 0 : i - 1, second = i == n - 1 ? n - 2 : i;
    double h = x[first + 1] - x[first], k = x[second + 1] - x[second];
    double p = (y[first + 1] - y[first]) / h, q = (y[second + 1] - y[second]) / k;
    double middle = 0.5 * fabs((p * k + q * h) / (h + k)), least = fabs(p) < fabs(q) ? fabs(p) : fabs(q);
    least = least < middle ? least : middle;
    if (first == second) slope[i] = p;
    else slope[i] = p * q > 0 ? (p > 0 ? 2 * least : -2 * least) : 0;
  }
  for (size_t i = 0; i + 1 < n; i++) {
    double h = x[i + 1] - x[i];
    hermite(s, i, h, (y[i + 1] - y[i]) / h, slope[i], slope[i + 1]);
  }
  free(slope);
}
static void divided_differences(double *to, const double *x, const double *y, size_t n) {
  EACH(i, n) to[i] = y[i];
  for (size_t k = 1; k < n; k++)
    for (size_t i = n - 1; i >= k; i--) to[i] = (to[i] - to[i - 1]) / (x[i] - x[i - k]);
}
int G(interp_init)(interp *given, const double *x, const double *y, size_t n) {
  state *s = given->state;
  given->xmin = x[0];
  given->xmax = x[n - 1];
  if (s->kind == LINEAR)
    for (size_t i = 0; i + 1 < n; i++) {
      s->b[i] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
      s->c[i] = s->d[i] = 0;
    }
  if (s->kind == POLYNOMIAL) divided_differences(s->b, x, y, n);
  if (s->kind == CSPLINE) natural(s, x, y, n);
  if (s->kind == CSPLINE_PERIODIC) periodic(s, x, y, n);
  if (s->kind == AKIMA || s->kind == AKIMA_PERIODIC) akima(s, x, y, n, s->kind == AKIMA_PERIODIC);
  if (s->kind == STEFFEN) steffen(s, x, y, n);
  return 0;
}

/* The value and its derivatives, by `order`. Outside of the points GSL has none. */
static double evaluate(const interp *given, const double *x, const double *y, double at, int order) {
  const state *s = given->state;
  size_t n = given->size;
  if (s->kind == POLYNOMIAL) {
    double value = 0, first = 0, second = 0;
    EACH(r, n) {
      size_t i = n - 1 - r;
      second = second * (at - x[i]) + 2 * first;
      first = first * (at - x[i]) + value;
      value = value * (at - x[i]) + s->b[i];
    }
    return order == 0 ? value : order == 1 ? first : second;
  }
  if (at < x[0] || at > x[n - 1]) return NAN;
  size_t i = G(interp_bsearch)(x, at, 0, n - 1);
  double t = at - x[i];
  if (order == 0) return y[i] + t * (s->b[i] + t * (s->c[i] + t * s->d[i]));
  if (order == 1) return s->b[i] + t * (2 * s->c[i] + 3 * t * s->d[i]);
  return 2 * s->c[i] + 6 * t * s->d[i];
}
/* By way of the powers of the distance from a. */
static double integral_of_polynomial(const interp *given, const double *x, double a, double b) {
  size_t n = given->size;
  double *power = malloc((n + 1) * sizeof(double)), sum = 0, h = 1;
  EACH(i, n) power[i] = 0;
  EACH(r, n) {
    size_t i = n - 1 - r;
    for (size_t k = n - 1; k > 0; k--) power[k] = power[k] * (a - x[i]) + power[k - 1];
    power[0] = power[0] * (a - x[i]) + given->state->b[i];
  }
  EACH(k, n) {
    h *= b - a;
    sum += power[k] * h / (double)(k + 1);
  }
  free(power);
  return sum;
}
static double integrate(const interp *given, const double *x, const double *y, double a, double b) {
  const state *s = given->state;
  size_t n = given->size;
  if (s->kind == POLYNOMIAL) return integral_of_polynomial(given, x, a, b);
  if (a > b || a < x[0] || b > x[n - 1]) return NAN;
  double sum = 0;
  size_t first = G(interp_bsearch)(x, a, 0, n - 1), last = G(interp_bsearch)(x, b, 0, n - 1);
  for (size_t i = first; i <= last; i++) {
    double u = i == first ? a - x[i] : 0, v = (i == last ? b : x[i + 1]) - x[i];
    sum += v * (y[i] + v * (s->b[i] / 2 + v * (s->c[i] / 3 + v * s->d[i] / 4)));
    sum -= u * (y[i] + u * (s->b[i] / 2 + u * (s->c[i] / 3 + u * s->d[i] / 4)));
  }
  return sum;
}
#define OUTSIDE(given, at) ((given)->state->kind != POLYNOMIAL && ((at) < (given)->xmin || (at) > (given)->xmax))
#define EVALUATE(name, order) \
  double G(interp_eval##name)(const interp *given, const double *x, const double *y, double at, accelerator *a) { \
    return evaluate(given, x, y, at, order); \
  } \
  int G(interp_eval##name##_e)(const interp *given, const double *x, const double *y, double at, accelerator *a, \
                               double *value) { \
    *value = evaluate(given, x, y, at, order); \
    return OUTSIDE(given, at) ? 1 : 0; \
  } \
  double G(spline_eval##name)(const spline *given, double at, accelerator *a) { \
    return evaluate(given->interp, given->x, given->y, at, order); \
  } \
  int G(spline_eval##name##_e)(const spline *given, double at, accelerator *a, double *value) { \
    *value = evaluate(given->interp, given->x, given->y, at, order); \
    return OUTSIDE(given->interp, at) ? 1 : 0; \
  }
EVALUATE(, 0)
EVALUATE(_deriv, 1)
EVALUATE(_deriv2, 2)
double G(interp_eval_integ)(const interp *given, const double *x, const double *y, double a, double b, accelerator *unused) {
  return integrate(given, x, y, a, b);
}
int G(interp_eval_integ_e)(const interp *given, const double *x, const double *y, double a, double b, accelerator *unused,
                           double *value) {
  *value = integrate(given, x, y, a, b);
  return OUTSIDE(given, a) || OUTSIDE(given, b) || a > b ? 1 : 0;
}
spline *G(spline_alloc)(const type *kind, size_t n) {
  spline *made = malloc(sizeof(spline));
  made->interp = G(interp_alloc)(kind, n);
  made->size = n;
  made->x = malloc(n * sizeof(double));
  made->y = malloc(n * sizeof(double));
  return made;
}
void G(spline_free)(spline *given) {
  if (!given) return;
  G(interp_free)(given->interp);
  free(given->x);
  free(given->y);
  free(given);
}
int G(spline_init)(spline *given, const double *x, const double *y, size_t n) {
  EACH(i, n) {
    given->x[i] = x[i];
    given->y[i] = y[i];
  }
  return G(interp_init)(given->interp, given->x, given->y, n);
}
double G(spline_eval_integ)(const spline *given, double a, double b, accelerator *unused) {
  return integrate(given->interp, given->x, given->y, a, b);
}
int G(spline_eval_integ_e)(const spline *given, double a, double b, accelerator *unused, double *value) {
  return G(interp_eval_integ_e)(given->interp, given->x, given->y, a, b, unused, value);
}
unsigned G(interp_type_min_size)(const type *kind) { return kind->min_size; }
unsigned G(interp_min_size)(const interp *given) { return given->type->min_size; }
unsigned G(spline_min_size)(const spline *given) { return given->interp->type->min_size; }
const char *G(interp_name)(const interp *given) { return given->type->name; }
const char *G(spline_name)(const spline *given) { return given->interp->type->name; }
