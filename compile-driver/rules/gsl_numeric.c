/* Of GSL: Chebyshev series, numerical differentiation, roots of polynomials, sorting, random numbers with a fixed seed and plain Monte Carlo
 * integration, hydrogen's radial functions. What needs a search or a generator is computed by GSL; the derivative is that of the formula.
 *
 * Source: GSL's reference manual for names and arguments; Clenshaw, "A note on the summation of Chebyshev series" (1955); Fornberg, "Generation of
 * finite difference formulas on arbitrarily spaced grids" (1988); the NIST Handbook of Mathematical Functions, 18.9 and 18.39, for Laguerre
 * polynomials and hydrogen.
 */
#include <ffgrad/derivatives.h>
#include <ffgrad/rules/gsl_vector.h>
#include <ffgrad/rules/values.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_NEEDS(values.c)
FFGRAD_REPLACES(gsl_cheb_alloc, ffgrad_gsl_cheb_alloc)
FFGRAD_REPLACES(gsl_cheb_calc_deriv, ffgrad_gsl_cheb_calc_deriv)
FFGRAD_REPLACES(gsl_cheb_calc_integ, ffgrad_gsl_cheb_calc_integ)
FFGRAD_REPLACES(gsl_cheb_eval, ffgrad_gsl_cheb_eval)
FFGRAD_REPLACES(gsl_cheb_eval_n, ffgrad_gsl_cheb_eval_n)
FFGRAD_REPLACES(gsl_cheb_free, ffgrad_gsl_cheb_free)
FFGRAD_REPLACES(gsl_cheb_init, ffgrad_gsl_cheb_init)
FFGRAD_REPLACES(gsl_deriv_backward, ffgrad_gsl_deriv_backward)
FFGRAD_REPLACES(gsl_deriv_central, ffgrad_gsl_deriv_central)
FFGRAD_REPLACES(gsl_deriv_forward, ffgrad_gsl_deriv_forward)
FFGRAD_REPLACES(gsl_monte_plain_alloc, ffgrad_gsl_monte_plain_alloc)
FFGRAD_REPLACES(gsl_monte_plain_free, ffgrad_gsl_monte_plain_free)
FFGRAD_REPLACES(gsl_monte_plain_init, ffgrad_gsl_monte_plain_init)
FFGRAD_REPLACES(gsl_monte_plain_integrate, ffgrad_gsl_monte_plain_integrate)
FFGRAD_REPLACES(gsl_poly_complex_solve, ffgrad_gsl_poly_complex_solve)
FFGRAD_REPLACES(gsl_poly_complex_workspace_alloc, ffgrad_gsl_poly_complex_workspace_alloc)
FFGRAD_REPLACES(gsl_poly_complex_workspace_free, ffgrad_gsl_poly_complex_workspace_free)
FFGRAD_REPLACES(gsl_poly_solve_cubic, ffgrad_gsl_poly_solve_cubic)
FFGRAD_REPLACES(gsl_ran_exponential, ffgrad_gsl_ran_exponential)
FFGRAD_REPLACES(gsl_ran_flat, ffgrad_gsl_ran_flat)
FFGRAD_REPLACES(gsl_ran_gaussian, ffgrad_gsl_ran_gaussian)
FFGRAD_REPLACES(gsl_ran_gaussian_ziggurat, ffgrad_gsl_ran_gaussian_ziggurat)
FFGRAD_REPLACES(gsl_ran_lognormal, ffgrad_gsl_ran_lognormal)
FFGRAD_REPLACES(gsl_ran_ugaussian, ffgrad_gsl_ran_ugaussian)
FFGRAD_REPLACES(gsl_rng_alloc, ffgrad_gsl_rng_alloc)
FFGRAD_REPLACES(gsl_rng_env_setup, ffgrad_gsl_rng_env_setup)
FFGRAD_REPLACES(gsl_rng_free, ffgrad_gsl_rng_free)
FFGRAD_REPLACES(gsl_rng_get, ffgrad_gsl_rng_get)
FFGRAD_REPLACES(gsl_rng_set, ffgrad_gsl_rng_set)
FFGRAD_REPLACES(gsl_rng_uniform, ffgrad_gsl_rng_uniform)
FFGRAD_REPLACES(gsl_rng_uniform_int, ffgrad_gsl_rng_uniform_int)
FFGRAD_REPLACES(gsl_rng_uniform_pos, ffgrad_gsl_rng_uniform_pos)
FFGRAD_REPLACES(gsl_sf_hydrogenicR, ffgrad_gsl_sf_hydrogenicR)
FFGRAD_REPLACES(gsl_sf_hydrogenicR_1, ffgrad_gsl_sf_hydrogenicR_1)
FFGRAD_REPLACES(gsl_sort, ffgrad_gsl_sort)
FFGRAD_REPLACES(gsl_sort_index, ffgrad_gsl_sort_index)
FFGRAD_REPLACES(gsl_sort_vector, ffgrad_gsl_sort_vector)

#define G(name) ffgrad_gsl_##name
#define EACH(i, n) for (size_t i = 0; i < (n); i++)
#define PI 3.14159265358979323846
#define KEPT_NOWHERE __attribute__((noescape))

typedef double callback(double, void *);
typedef struct {
  callback *function;
  void *params;
} function;

/* Chebyshev series, with GSL's members in GSL's order */
typedef struct {
  double *c;
  size_t order;
  double a, b;
  size_t order_sp;
  double *f;
} series;

series *G(cheb_alloc)(size_t order) {
  series *made = malloc(sizeof(series));
  made->c = malloc((order + 1) * sizeof(double));
  made->f = malloc((order + 1) * sizeof(double));
  made->order = made->order_sp = order;
  return made;
}
void G(cheb_free)(series *s) {
  if (!s) return;
  free(s->c);
  free(s->f);
  free(s);
}
int G(cheb_init)(series *s, const function *f, double a, double b) {
  size_t n = s->order + 1;
  s->a = a;
  s->b = b;
  EACH(k, n) s->f[k] = f->function(0.5 * (b + a) + 0.5 * (b - a) * cos(PI * (k + 0.5) / n), f->params);
  EACH(j, n) {
    double sum = 0;
    EACH(k, n) sum += s->f[k] * cos(PI * j * (k + 0.5) / n);
    s->c[j] = 2 * sum / n;
  }
  return 0;
}
double G(cheb_eval_n)(const series *s, size_t n, double x) {
  double y = (2 * x - s->a - s->b) / (s->b - s->a), one = 0, two = 0;
  for (size_t i = n < s->order ? n : s->order; i >= 1; i--) {
    double next = 2 * y * one - two + s->c[i];
    two = one;
    one = next;
  }
  return y * one - two + 0.5 * s->c[0];
}
double G(cheb_eval)(const series *s, double x) { return G(cheb_eval_n)(s, s->order, x); }
int G(cheb_calc_deriv)(series *to, const series *s) {
  size_t n = s->order + 1;
  double factor = 2 / (s->b - s->a);
  to->a = s->a;
  to->b = s->b;
  to->c[n - 1] = 0;
  for (size_t i = n - 1; i-- > 0;) to->c[i] = (i + 2 < n ? to->c[i + 2] : 0) + factor * 2 * (i + 1) * s->c[i + 1];
  return 0;
}
int G(cheb_calc_integ)(series *to, const series *s) {
  size_t n = s->order + 1;
  double factor = 0.25 * (s->b - s->a), sum = 0;
  to->a = s->a;
  to->b = s->b;
  for (size_t i = 1; i < n; i++) {
    to->c[i] = factor * (s->c[i - 1] - (i + 1 < n ? s->c[i + 1] : 0)) / i;
    sum += i % 2 ? to->c[i] : -to->c[i];
  }
  to->c[0] = 2 * sum;
  return 0;
}

/* Differentiation: GSL's number, with the derivative of a difference of sixth order. */
extern int gsl_deriv_central(const function *KEPT_NOWHERE, double, double, double *KEPT_NOWHERE, double *KEPT_NOWHERE);
extern int gsl_deriv_forward(const function *KEPT_NOWHERE, double, double, double *KEPT_NOWHERE, double *KEPT_NOWHERE);
extern int gsl_deriv_backward(const function *KEPT_NOWHERE, double, double, double *KEPT_NOWHERE, double *KEPT_NOWHERE);
int ffgrad_gsl_deriv(int side, callback *of, void *params, double x, double h, double *out) {
  function f = {of, params};
  return side == 0 ? gsl_deriv_central(&f, x, h, out, out + 1)
         : side > 0 ? gsl_deriv_forward(&f, x, h, out, out + 1)
                    : gsl_deriv_backward(&f, x, h, out, out + 1);
}
int ffgrad_gsl_deriv_fwd(int side, callback *of, callback *unused, void *params, void *dparams, double x, double dx, double h,
                         double dh, double *out, double *dout) {
  if (dout) dout[0] = dout[1] = 0;
  return ffgrad_gsl_deriv(side, of, params, x, h, out);
}
void ffgrad_gsl_deriv_rev(int side, callback *of, callback *unused, void *params, void *dparams, double x, double *dx, double h,
                          double *dh, double *out, double *dout) {
  if (dout) dout[0] = dout[1] = 0;
}
FFGRAD_DERIVATIVES(ffgrad_gsl_deriv, ffgrad_gsl_deriv_fwd, ffgrad_gsl_deriv_rev);

static inline double slope(callback *f, void *params, double x, double d, int side) {
  if (side == 0)
    return (45 * (f(x + d, params) - f(x - d, params)) - 9 * (f(x + 2 * d, params) - f(x - 2 * d, params)) +
            (f(x + 3 * d, params) - f(x - 3 * d, params))) / (60 * d);
  double e = side * d;
  return (-147 * f(x, params) + 360 * f(x + e, params) - 450 * f(x + 2 * e, params) + 400 * f(x + 3 * e, params) -
          225 * f(x + 4 * e, params) + 72 * f(x + 5 * e, params) - 10 * f(x + 6 * e, params)) / (60 * e);
}
static inline int differentiate(int side, const function *f, double x, double h, double *result, double *abserr) {
  double out[2] = {0, 0}, d = 1e-3 * fmax(ffgrad_constant(fabs(x)), 1e-2);
  int status = ffgrad_gsl_deriv(side, f->function, f->params, ffgrad_constant(x), ffgrad_constant(h), out);
  *result = ffgrad_value(out[0], slope(f->function, f->params, x, d, side));
  *abserr = ffgrad_constant(out[1]);
  return status;
}
int G(deriv_central)(const function *f, double x, double h, double *result, double *abserr) { return differentiate(0, f, x, h, result, abserr); }
int G(deriv_forward)(const function *f, double x, double h, double *result, double *abserr) { return differentiate(1, f, x, h, result, abserr); }
int G(deriv_backward)(const function *f, double x, double h, double *result, double *abserr) { return differentiate(-1, f, x, h, result, abserr); }

/* Roots of polynomials: GSL's, with the derivative of Newton steps from there. Of a multiple root it is infinite or not-a-number. The first step gives
 * the first derivative, both the second one. */
enum { NEWTON_STEPS = 2 };
extern int gsl_poly_solve_cubic(double, double, double, double *KEPT_NOWHERE, double *KEPT_NOWHERE, double *KEPT_NOWHERE);
extern long gsl_poly_complex_workspace_alloc(size_t);
extern void gsl_poly_complex_workspace_free(long);
extern int gsl_poly_complex_solve(const double *KEPT_NOWHERE, size_t, long, double *KEPT_NOWHERE);
/* n coefficients, the lowest first; of a cubic, of which the real roots are wanted, `real` is set and the number of roots returned. */
int ffgrad_gsl_roots(int real, const double *a, size_t n, double *out) {
  if (real) return gsl_poly_solve_cubic(a[2], a[1], a[0], out, out + 1, out + 2);
  long work = gsl_poly_complex_workspace_alloc(n);
  int status = gsl_poly_complex_solve(a, n, work, out);
  gsl_poly_complex_workspace_free(work);
  return status;
}
int ffgrad_gsl_roots_fwd(int real, const double *a, double *da, size_t n, double *out, double *dout) {
  if (dout) memset(dout, 0, (real ? 3 : 2 * (n - 1)) * sizeof(double));
  return ffgrad_gsl_roots(real, a, n, out);
}
void ffgrad_gsl_roots_rev(int real, const double *a, double *da, size_t n, double *out, double *dout) {
  if (dout) memset(dout, 0, (real ? 3 : 2 * (n - 1)) * sizeof(double));
}
FFGRAD_DERIVATIVES(ffgrad_gsl_roots, ffgrad_gsl_roots_fwd, ffgrad_gsl_roots_rev);

int G(poly_solve_cubic)(double a, double b, double c, double *x0, double *x1, double *x2) {
  double given[4] = {c, b, a, 1}, out[3] = {0, 0, 0}, *to[3] = {x0, x1, x2};
  int count = ffgrad_gsl_roots(1, given, 4, out);
  for (int i = 0; i < 3 && i < count; i++) {
    double x = ffgrad_constant(out[i]);
    for (int step = 0; step < NEWTON_STEPS; step++) x -= (((x + a) * x + b) * x + c) / ((3 * x + 2 * a) * x + b);
    *to[i] = ffgrad_value(ffgrad_constant(out[i]), x);
  }
  return count;
}
int G(poly_complex_solve)(const double *a, size_t n, void *work, double *z) {
  double *out = malloc(2 * n * sizeof(double));
  int status = ffgrad_gsl_roots(0, a, n, out);
  EACH(i, n - 1) {
    double x = ffgrad_constant(out[2 * i]), y = ffgrad_constant(out[2 * i + 1]);
    for (int step = 0; step < NEWTON_STEPS; step++) {
      /* The value and the slope there, by Horner's scheme. */
      double p = 0, q = 0, r = 0, s = 0;
      EACH(k, n) {
        double u = r * x - s * y + p, v = r * y + s * x + q, w = p * x - q * y + a[n - 1 - k], t = p * y + q * x;
        r = u, s = v, p = w, q = t;
      }
      double size = r * r + s * s, dx = (p * r + q * s) / size, dy = (q * r - p * s) / size;
      x -= dx;
      y -= dy;
    }
    z[2 * i] = ffgrad_value(ffgrad_constant(out[2 * i]), x);
    z[2 * i + 1] = ffgrad_value(ffgrad_constant(out[2 * i + 1]), y);
  }
  free(out);
  return status;
}
static inline void *unused(void) {
  int *made = malloc(sizeof(int));
  *made = 0;
  return made;
}
void *G(poly_complex_workspace_alloc)(size_t n) { return unused(); }
void G(poly_complex_workspace_free)(void *work) { free(work); }

/* Sorting: GSL says where each element goes. */
extern void gsl_sort_index(size_t *KEPT_NOWHERE, const double *KEPT_NOWHERE, size_t, size_t);
void ffgrad_gsl_order(size_t *to, const double *x, size_t stride, size_t n) { gsl_sort_index(to, x, stride, n); }
void ffgrad_gsl_order_fwd(size_t *to, size_t *dto, const double *x, double *dx, size_t stride, size_t n) { ffgrad_gsl_order(to, x, stride, n); }
void ffgrad_gsl_order_rev(size_t *to, size_t *dto, const double *x, double *dx, size_t stride, size_t n) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_order, ffgrad_gsl_order_fwd, ffgrad_gsl_order_rev);
void G(sort_index)(size_t *to, const double *x, size_t stride, size_t n) { ffgrad_gsl_order(to, x, stride, n); }
void G(sort)(double *x, size_t stride, size_t n) {
  size_t *order = malloc((n + 1) * sizeof(size_t));
  double *old = malloc((n + 1) * sizeof(double));
  ffgrad_gsl_order(order, x, stride, n);
  EACH(i, n) old[i] = x[i * stride];
  EACH(i, n) x[i * stride] = old[order[i]];
  free(order);
  free(old);
}
void G(sort_vector)(vector *v) { G(sort)(v->data, v->stride, v->size); }

/* Random numbers of a generator that the function makes itself. */
extern long gsl_rng_alloc(long);
extern void gsl_rng_free(long);
extern void gsl_rng_set(long, unsigned long);
extern unsigned long gsl_rng_get(long);
extern unsigned long gsl_rng_uniform_int(long, unsigned long);
extern double gsl_rng_uniform(long);
extern double gsl_rng_uniform_pos(long);
extern double gsl_ran_ugaussian(long);
extern double gsl_ran_gaussian_ziggurat(long, double);
extern double gsl_ran_exponential(long, double);
extern double gsl_ran_lognormal(long, double, double);
extern long gsl_rng_env_setup(void);
enum { ALLOC, FREE, SET, GET, INTEGER, SETUP };
enum { UNIFORM, POSITIVE, NORMAL, ZIGGURAT, EXPONENTIAL, LOGARITHM };
long ffgrad_gsl_generator(int what, long which, unsigned long number) {
  if (what == ALLOC) return gsl_rng_alloc(which);
  if (what == FREE) gsl_rng_free(which);
  if (what == SET) gsl_rng_set(which, number);
  if (what == SETUP) return gsl_rng_env_setup();
  return what == GET ? (long)gsl_rng_get(which) : what == INTEGER ? (long)gsl_rng_uniform_int(which, number) : 0;
}
long ffgrad_gsl_generator_fwd(int what, long which, unsigned long number) { return ffgrad_gsl_generator(what, which, number); }
void ffgrad_gsl_generator_rev(int what, long which, unsigned long number) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_generator, ffgrad_gsl_generator_fwd, ffgrad_gsl_generator_rev);
double ffgrad_gsl_draw(int what, long which) {
  return what == UNIFORM ? gsl_rng_uniform(which) : what == POSITIVE ? gsl_rng_uniform_pos(which)
         : what == NORMAL ? gsl_ran_ugaussian(which) : what == ZIGGURAT ? gsl_ran_gaussian_ziggurat(which, 1)
         : what == EXPONENTIAL ? gsl_ran_exponential(which, 1) : log(gsl_ran_lognormal(which, 0, 1));
}
double ffgrad_gsl_draw_fwd(int what, long which, double *dy) {
  *dy = 0;
  return ffgrad_gsl_draw(what, which);
}
void ffgrad_gsl_draw_rev(int what, long which, double dy) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_draw, ffgrad_gsl_draw_fwd, ffgrad_gsl_draw_rev);
typedef struct {
  long own;
} generator;
generator *G(rng_alloc)(const void *type) {
  generator *made = malloc(sizeof(generator));
  made->own = ffgrad_gsl_generator(ALLOC, (long)type, 0);
  return made;
}
void G(rng_free)(generator *r) {
  if (!r) return;
  ffgrad_gsl_generator(FREE, r->own, 0);
  free(r);
}
const void *G(rng_env_setup)(void) { return (const void *)ffgrad_gsl_generator(SETUP, 0, 0); }
void G(rng_set)(const generator *r, unsigned long seed) { ffgrad_gsl_generator(SET, r->own, seed); }
unsigned long G(rng_get)(const generator *r) { return (unsigned long)ffgrad_gsl_generator(GET, r->own, 0); }
unsigned long G(rng_uniform_int)(const generator *r, unsigned long n) { return (unsigned long)ffgrad_gsl_generator(INTEGER, r->own, n); }
double G(rng_uniform)(const generator *r) { return ffgrad_gsl_draw(UNIFORM, r->own); }
double G(rng_uniform_pos)(const generator *r) { return ffgrad_gsl_draw(POSITIVE, r->own); }
double G(ran_ugaussian)(const generator *r) { return ffgrad_gsl_draw(NORMAL, r->own); }
double G(ran_gaussian)(const generator *r, double sigma) { return sigma * ffgrad_gsl_draw(NORMAL, r->own); }
double G(ran_gaussian_ziggurat)(const generator *r, double sigma) { return sigma * ffgrad_gsl_draw(ZIGGURAT, r->own); }
double G(ran_exponential)(const generator *r, double mu) { return mu * ffgrad_gsl_draw(EXPONENTIAL, r->own); }
double G(ran_flat)(const generator *r, double a, double b) {
  double u = ffgrad_gsl_draw(UNIFORM, r->own);
  return a * (1 - u) + b * u;
}
double G(ran_lognormal)(const generator *r, double zeta, double sigma) { return exp(sigma * ffgrad_gsl_draw(LOGARITHM, r->own) + zeta); }

typedef struct {
  double (*f)(double *, size_t, void *);
  size_t dim;
  void *params;
} many;
void *G(monte_plain_alloc)(size_t dim) { return unused(); }
int G(monte_plain_init)(void *state) { return 0; }
void G(monte_plain_free)(void *state) { free(state); }
int G(monte_plain_integrate)(const many *f, const double *low, const double *high, size_t dim, size_t calls, const generator *r,
                             void *state, double *result, double *abserr) {
  double *x = malloc((dim + 1) * sizeof(double)), volume = 1, mean = 0, squares = 0;
  EACH(i, dim) volume *= high[i] - low[i];
  EACH(n, calls) {
    EACH(i, dim) x[i] = low[i] + ffgrad_gsl_draw(POSITIVE, r->own) * (high[i] - low[i]);
    double gap = f->f(x, dim, f->params) - mean;
    mean += gap / (n + 1.0);
    squares += gap * gap * (n / (n + 1.0));
  }
  *result = volume * mean;
  *abserr = calls < 2 ? INFINITY : volume * sqrt(squares / (calls * (calls - 1.0)));
  free(x);
  return 0;
}

/* Hydrogen: GSL's value, with the derivative of (2 Z / n)^(3/2) sqrt((n - l - 1)! / (2 n (n + l)!)) exp(-t / 2) t^l L(t), t = 2 Z r / n. */
extern double gsl_sf_hydrogenicR(int, int, double, double);
double ffgrad_gsl_hydrogen(int n, int l, double z, double r) { return gsl_sf_hydrogenicR(n, l, z, r); }
double ffgrad_gsl_hydrogen_fwd(int n, int l, double z, double dz, double r, double dr, double *dy) {
  *dy = 0;
  return ffgrad_gsl_hydrogen(n, l, z, r);
}
void ffgrad_gsl_hydrogen_rev(int n, int l, double z, double *dz, double r, double *dr, double dy) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_hydrogen, ffgrad_gsl_hydrogen_fwd, ffgrad_gsl_hydrogen_rev);
double G(sf_hydrogenicR)(int n, int l, double z, double r) {
  double t = 2 * z * r / n, before = 0, now = 1, norm = 2 * z / n, power = 1;
  for (int k = 0; k < n - l - 1; k++) {
    double next = ((2 * k + 2 * l + 2 - t) * now - (k + 2 * l + 1) * before) / (k + 1);
    before = now;
    now = next;
  }
  for (int i = 0; i < l; i++) power *= t;
  double factorials = exp(0.5 * (lgamma(n - l) - lgamma(n + l + 1)));
  double like = norm * sqrt(norm) * factorials / sqrt(2.0 * n) * exp(-t / 2) * power * now;
  return ffgrad_value(ffgrad_gsl_hydrogen(n, l, ffgrad_constant(z), ffgrad_constant(r)), like);
}
double G(sf_hydrogenicR_1)(double z, double r) { return G(sf_hydrogenicR)(1, 0, z, r); }
