/* Roots and minima in one dimension by GSL, with a callback. GSL iterates and computes the values; the root that the caller is
 * told has the derivative of two Newton steps from there, which is the implicit function theorem's, for the second derivative,
 * too. Where these steps do not show that a solution is near there is none: it is an error to ask for it. The slopes are the caller's where he has given them, else differences of sixth order. The ends of the interval
 * are constants.
 *
 * Source: GSL's reference manual for names and arguments; Fornberg, "Generation of finite difference formulas on arbitrarily
 * spaced grids" (1988), for the differences.
 */
#include <ffgrad/derivatives.h>
#include <ffgrad/rules/values.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_NEEDS(values.c)
FFGRAD_REPLACES(gsl_min_fminimizer_alloc, ffgrad_gsl_min_fminimizer_alloc)
FFGRAD_REPLACES(gsl_min_fminimizer_f_lower, ffgrad_gsl_min_fminimizer_f_lower)
FFGRAD_REPLACES(gsl_min_fminimizer_f_minimum, ffgrad_gsl_min_fminimizer_f_minimum)
FFGRAD_REPLACES(gsl_min_fminimizer_f_upper, ffgrad_gsl_min_fminimizer_f_upper)
FFGRAD_REPLACES(gsl_min_fminimizer_free, ffgrad_gsl_min_fminimizer_free)
FFGRAD_REPLACES(gsl_min_fminimizer_iterate, ffgrad_gsl_min_fminimizer_iterate)
FFGRAD_REPLACES(gsl_min_fminimizer_set, ffgrad_gsl_min_fminimizer_set)
FFGRAD_REPLACES(gsl_min_fminimizer_x_lower, ffgrad_gsl_min_fminimizer_x_lower)
FFGRAD_REPLACES(gsl_min_fminimizer_x_minimum, ffgrad_gsl_min_fminimizer_x_minimum)
FFGRAD_REPLACES(gsl_min_fminimizer_x_upper, ffgrad_gsl_min_fminimizer_x_upper)
FFGRAD_REPLACES(gsl_min_test_interval, ffgrad_gsl_min_test_interval)
FFGRAD_REPLACES(gsl_root_fdfsolver_alloc, ffgrad_gsl_root_fdfsolver_alloc)
FFGRAD_REPLACES(gsl_root_fdfsolver_free, ffgrad_gsl_root_fdfsolver_free)
FFGRAD_REPLACES(gsl_root_fdfsolver_iterate, ffgrad_gsl_root_fdfsolver_iterate)
FFGRAD_REPLACES(gsl_root_fdfsolver_root, ffgrad_gsl_root_fdfsolver_root)
FFGRAD_REPLACES(gsl_root_fdfsolver_set, ffgrad_gsl_root_fdfsolver_set)
FFGRAD_REPLACES(gsl_root_fsolver_alloc, ffgrad_gsl_root_fsolver_alloc)
FFGRAD_REPLACES(gsl_root_fsolver_free, ffgrad_gsl_root_fsolver_free)
FFGRAD_REPLACES(gsl_root_fsolver_iterate, ffgrad_gsl_root_fsolver_iterate)
FFGRAD_REPLACES(gsl_root_fsolver_root, ffgrad_gsl_root_fsolver_root)
FFGRAD_REPLACES(gsl_root_fsolver_set, ffgrad_gsl_root_fsolver_set)
FFGRAD_REPLACES(gsl_root_fsolver_x_lower, ffgrad_gsl_root_fsolver_x_lower)
FFGRAD_REPLACES(gsl_root_fsolver_x_upper, ffgrad_gsl_root_fsolver_x_upper)
FFGRAD_REPLACES(gsl_root_test_delta, ffgrad_gsl_root_test_delta)
FFGRAD_REPLACES(gsl_root_test_interval, ffgrad_gsl_root_test_interval)
FFGRAD_REPLACES(gsl_root_test_residual, ffgrad_gsl_root_test_residual)

typedef double callback(double, void *);
typedef void both(double, void *, double *, double *);
typedef struct {
  callback *function;
  void *params;
} gsl_function;
typedef struct {
  callback *f, *df;
  both *fdf;
  void *params;
} gsl_function_fdf;

/* GSL's own: objects are integers here and other pointers marked, because nothing of the program's is kept in them. */
#define KEPT_NOWHERE __attribute__((noescape))
extern long gsl_root_fsolver_alloc(long);
extern int gsl_root_fsolver_set(long, gsl_function *KEPT_NOWHERE, double, double);
extern int gsl_root_fsolver_iterate(long);
extern void gsl_root_fsolver_free(long);
extern long gsl_root_fdfsolver_alloc(long);
extern int gsl_root_fdfsolver_set(long, gsl_function_fdf *KEPT_NOWHERE, double);
extern int gsl_root_fdfsolver_iterate(long);
extern void gsl_root_fdfsolver_free(long);
extern long gsl_min_fminimizer_alloc(long);
extern int gsl_min_fminimizer_set(long, gsl_function *KEPT_NOWHERE, double, double, double);
extern int gsl_min_fminimizer_iterate(long);
extern void gsl_min_fminimizer_free(long);

/* The members of GSL's objects. */
typedef struct {
  const void *type, *function;
  double root, x_lower, x_upper;
} bracket;
typedef struct {
  const void *type, *function;
  double root;
} single;
typedef struct {
  const void *type, *function;
  double x_minimum, x_lower, x_upper, f_minimum, f_lower, f_upper;
} valley;

enum { BRACKET, SINGLE, VALLEY };
enum { PLACE, LOWER, UPPER, F_PLACE, F_LOWER, F_UPPER, NUMBERS };

/* A solver of GSL's, and the function that it calls. */
typedef struct {
  long solver;
  gsl_function function;
  gsl_function_fdf with_slope;
} solving;

/* Makes a solver, or frees it; Enzyme sees no inside of it. */
long ffgrad_gsl_solver(int kind, int frees, long given) {
  if (frees) {
    solving *s = (solving *)given;
    if (kind == BRACKET) gsl_root_fsolver_free(s->solver);
    if (kind == SINGLE) gsl_root_fdfsolver_free(s->solver);
    if (kind == VALLEY) gsl_min_fminimizer_free(s->solver);
    free(s);
    return 0;
  }
  solving *s = calloc(1, sizeof(solving));
  s->solver = kind == BRACKET ? gsl_root_fsolver_alloc(given)
              : kind == SINGLE ? gsl_root_fdfsolver_alloc(given)
                               : gsl_min_fminimizer_alloc(given);
  return (long)s;
}
long ffgrad_gsl_solver_fwd(int kind, int frees, long given) { return ffgrad_gsl_solver(kind, frees, given); }
void ffgrad_gsl_solver_rev(int kind, int frees, long given) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_solver, ffgrad_gsl_solver_fwd, ffgrad_gsl_solver_rev);

/* Sets a solver, or iterates it, and writes what it knows then. */
int ffgrad_gsl_solve(int kind, int sets, long given, callback *f, callback *df, both *fdf, void *params, double at, double low,
                     double high, double *out) {
  solving *s = (solving *)given;
  s->function = (gsl_function){f, params};
  s->with_slope = (gsl_function_fdf){f, df, fdf, params};
  int status;
  if (kind == BRACKET) {
    status = sets ? gsl_root_fsolver_set(s->solver, &s->function, low, high) : gsl_root_fsolver_iterate(s->solver);
    const bracket *now = (const bracket *)s->solver;
    out[PLACE] = now->root, out[LOWER] = now->x_lower, out[UPPER] = now->x_upper;
  } else if (kind == SINGLE) {
    status = sets ? gsl_root_fdfsolver_set(s->solver, &s->with_slope, at) : gsl_root_fdfsolver_iterate(s->solver);
    out[PLACE] = ((const single *)s->solver)->root;
  } else {
    status = sets ? gsl_min_fminimizer_set(s->solver, &s->function, at, low, high) : gsl_min_fminimizer_iterate(s->solver);
    const valley *now = (const valley *)s->solver;
    out[PLACE] = now->x_minimum, out[LOWER] = now->x_lower, out[UPPER] = now->x_upper;
    out[F_PLACE] = now->f_minimum, out[F_LOWER] = now->f_lower, out[F_UPPER] = now->f_upper;
  }
  return status;
}
int ffgrad_gsl_solve_fwd(int kind, int sets, long given, callback *f, callback *u1, callback *df, callback *u2, both *fdf,
                         both *u3, void *params, void *dparams, double at, double d1, double low, double d2, double high,
                         double d3, double *out, double *dout) {
  if (dout) memset(dout, 0, NUMBERS * sizeof(double));
  return ffgrad_gsl_solve(kind, sets, given, f, df, fdf, params, at, low, high, out);
}
void ffgrad_gsl_solve_rev(int kind, int sets, long given, callback *f, callback *u1, callback *df, callback *u2, both *fdf,
                          both *u3, void *params, void *dparams, double at, double *d1, double low, double *d2, double high,
                          double *d3, double *out, double *dout) {
  if (dout) memset(dout, 0, NUMBERS * sizeof(double));
}
FFGRAD_DERIVATIVES(ffgrad_gsl_solve, ffgrad_gsl_solve_fwd, ffgrad_gsl_solve_rev);

/* The caller's object. */
typedef struct {
  long own;
  callback *f, *df;
  both *fdf;
  void *params;
  /* A length that the function is smooth on. */
  double scale;
  double now[NUMBERS];
} solver;

static inline void *new_solver(int kind, const void *type) {
  solver *made = malloc(sizeof(solver));
  made->own = ffgrad_gsl_solver(kind, 0, (long)type);
  made->f = made->df = NULL;
  made->fdf = NULL;
  made->params = NULL;
  made->scale = 0;
  for (int i = 0; i < NUMBERS; i++) made->now[i] = 0;
  return made;
}
static inline void free_solver(int kind, solver *s) {
  if (!s) return;
  ffgrad_gsl_solver(kind, 1, s->own);
  free(s);
}
static inline int solve(int kind, int sets, solver *s, double at, double low, double high) {
  double out[NUMBERS] = {0, 0, 0, 0, 0, 0};
  int status = ffgrad_gsl_solve(kind, sets, s->own, s->f, s->df, s->fdf, s->params, ffgrad_constant(at),
                                ffgrad_constant(low), ffgrad_constant(high), out);
  for (int i = 0; i < NUMBERS; i++) s->now[i] = ffgrad_constant(out[i]);
  return status;
}

static inline double step_at(double x, double scale) { return fmax(fabs(x), 0.01 * scale); }

/* First and second derivatives by differences of sixth order. */
static inline double slope(callback *f, void *params, double x, double d) {
  return (45 * (f(x + d, params) - f(x - d, params)) - 9 * (f(x + 2 * d, params) - f(x - 2 * d, params)) +
          (f(x + 3 * d, params) - f(x - 3 * d, params))) / (60 * d);
}
static inline double curvature(callback *f, void *params, double x, double d) {
  return (2 * (f(x + 3 * d, params) + f(x - 3 * d, params)) - 27 * (f(x + 2 * d, params) + f(x - 2 * d, params)) +
          270 * (f(x + d, params) + f(x - d, params)) - 490 * f(x, params)) / (180 * d * d);
}

/* Whether two Newton steps show a solution: the first is short beside the solution, or beside the interval where that is zero, and the second
 * one far shorter, which it is not where the slope vanishes. */
static inline int is_near(double at, double first, double second, double scale) {
  double size = fmax(fmax(fabs(at), fabs(at - first)), 1e-4 * (scale > 0 ? scale : 1));
  return fabs(first) <= 1e-2 * size && (fabs(second) <= 0.1 * fabs(first) || fabs(second) <= 1e-9 * size);
}

/* Newton steps from where GSL is: the first gives the first derivative, both the second one. The number x that GSL has there gets the
 * derivative of the place, or of `f` there. */
enum { NEWTON_STEPS = 2 };
static inline double after_newton(const solver *s, double x, double first, double second, double place) {
  int is_solved = is_near(ffgrad_constant(s->now[PLACE]), ffgrad_constant(first), ffgrad_constant(second), s->scale);
  return is_solved ? ffgrad_value(x, place) : ffgrad_unsolved_value(x, place);
}
static inline double root_of(const solver *s) {
  callback *f = s->f, *df = s->df;
  double x = s->now[PLACE], d = 1e-3 * ffgrad_constant(step_at(x, s->scale)), step[NEWTON_STEPS];
  for (int i = 0; i < NEWTON_STEPS; i++) {
    step[i] = f(x, s->params) / (df ? df(x, s->params) : slope(f, s->params, x, d));
    x -= step[i];
  }
  return after_newton(s, s->now[PLACE], step[0], step[1], x);
}
static inline double minimum_of(const solver *s, int is_value) {
  callback *f = s->f;
  double x = s->now[PLACE], d = 1e-2 * ffgrad_constant(step_at(x, s->scale)), step[NEWTON_STEPS];
  for (int i = 0; i < NEWTON_STEPS; i++) {
    step[i] = slope(f, s->params, x, d) / curvature(f, s->params, x, d);
    x -= step[i];
  }
  return after_newton(s, s->now[is_value ? F_PLACE : PLACE], step[0], step[1], is_value ? f(x, s->params) : x);
}

void *ffgrad_gsl_root_fsolver_alloc(const void *type) { return new_solver(BRACKET, type); }
void ffgrad_gsl_root_fsolver_free(solver *s) { free_solver(BRACKET, s); }
int ffgrad_gsl_root_fsolver_set(solver *s, gsl_function *f, double low, double high) {
  s->f = f->function;
  s->params = f->params;
  s->scale = ffgrad_constant(fabs(high - low));
  return solve(BRACKET, 1, s, 0, low, high);
}
int ffgrad_gsl_root_fsolver_iterate(solver *s) { return solve(BRACKET, 0, s, 0, 0, 0); }
double ffgrad_gsl_root_fsolver_root(const solver *s) { return root_of(s); }
double ffgrad_gsl_root_fsolver_x_lower(const solver *s) { return s->now[LOWER]; }
double ffgrad_gsl_root_fsolver_x_upper(const solver *s) { return s->now[UPPER]; }

void *ffgrad_gsl_root_fdfsolver_alloc(const void *type) { return new_solver(SINGLE, type); }
void ffgrad_gsl_root_fdfsolver_free(solver *s) { free_solver(SINGLE, s); }
int ffgrad_gsl_root_fdfsolver_set(solver *s, gsl_function_fdf *f, double start) {
  s->f = f->f;
  s->df = f->df;
  s->fdf = f->fdf;
  s->params = f->params;
  return solve(SINGLE, 1, s, start, 0, 0);
}
int ffgrad_gsl_root_fdfsolver_iterate(solver *s) { return solve(SINGLE, 0, s, 0, 0, 0); }
double ffgrad_gsl_root_fdfsolver_root(const solver *s) { return root_of(s); }

void *ffgrad_gsl_min_fminimizer_alloc(const void *type) { return new_solver(VALLEY, type); }
void ffgrad_gsl_min_fminimizer_free(solver *s) { free_solver(VALLEY, s); }
int ffgrad_gsl_min_fminimizer_set(solver *s, gsl_function *f, double start, double low, double high) {
  s->f = f->function;
  s->params = f->params;
  s->scale = ffgrad_constant(fabs(high - low));
  return solve(VALLEY, 1, s, start, low, high);
}
int ffgrad_gsl_min_fminimizer_iterate(solver *s) { return solve(VALLEY, 0, s, 0, 0, 0); }
double ffgrad_gsl_min_fminimizer_x_minimum(const solver *s) { return minimum_of(s, 0); }
double ffgrad_gsl_min_fminimizer_x_lower(const solver *s) { return s->now[LOWER]; }
double ffgrad_gsl_min_fminimizer_x_upper(const solver *s) { return s->now[UPPER]; }
double ffgrad_gsl_min_fminimizer_f_minimum(const solver *s) { return minimum_of(s, 1); }
double ffgrad_gsl_min_fminimizer_f_lower(const solver *s) {
  return ffgrad_value(s->now[F_LOWER], s->f(s->now[LOWER], s->params));
}
double ffgrad_gsl_min_fminimizer_f_upper(const solver *s) {
  return ffgrad_value(s->now[F_UPPER], s->f(s->now[UPPER], s->params));
}

/* Codes of GSL's. */
enum { SUCCESS = 0, CONTINUE = -2 };

int ffgrad_gsl_root_test_interval(double low, double high, double epsabs, double epsrel) {
  double least = low * high > 0 ? fmin(fabs(low), fabs(high)) : 0;
  return fabs(high - low) < epsabs + epsrel * least ? SUCCESS : CONTINUE;
}
int ffgrad_gsl_root_test_delta(double now, double before, double epsabs, double epsrel) {
  return fabs(now - before) < epsabs + epsrel * fabs(now) || now == before ? SUCCESS : CONTINUE;
}
int ffgrad_gsl_root_test_residual(double f, double epsabs) { return fabs(f) < epsabs ? SUCCESS : CONTINUE; }
int ffgrad_gsl_min_test_interval(double low, double high, double epsabs, double epsrel) {
  return ffgrad_gsl_root_test_interval(low, high, epsabs, epsrel);
}
