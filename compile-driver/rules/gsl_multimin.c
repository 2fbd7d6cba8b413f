/* Minima of functions by GSL, with a callback. GSL iterates and computes the values; where GSL has come near a minimum, the vector `x` has the
 * derivative of two Newton steps from there, which is the implicit function theorem's, for the second derivative, too: the Hessian is that of
 * differences and a constant. The value at the minimum has the derivative of the callback there. Elsewhere
 * both are not-a-number. Gradients, steps and sizes are constants.
 *
 * Source: GSL's reference manual for names and arguments; Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids" (1988).
 */
#include <ffgrad/derivatives.h>
#include <ffgrad/rules/gsl_newton.h>
#include <ffgrad/rules/values.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_NEEDS(values.c)
FFGRAD_REPLACES(gsl_multimin_fdfminimizer_alloc, ffgrad_gsl_multimin_fdfminimizer_alloc)
FFGRAD_REPLACES(gsl_multimin_fdfminimizer_dx, ffgrad_gsl_multimin_fdfminimizer_dx)
FFGRAD_REPLACES(gsl_multimin_fdfminimizer_free, ffgrad_gsl_multimin_fdfminimizer_free)
FFGRAD_REPLACES(gsl_multimin_fdfminimizer_gradient, ffgrad_gsl_multimin_fdfminimizer_gradient)
FFGRAD_REPLACES(gsl_multimin_fdfminimizer_iterate, ffgrad_gsl_multimin_fdfminimizer_iterate)
FFGRAD_REPLACES(gsl_multimin_fdfminimizer_minimum, ffgrad_gsl_multimin_fdfminimizer_minimum)
FFGRAD_REPLACES(gsl_multimin_fdfminimizer_restart, ffgrad_gsl_multimin_fdfminimizer_restart)
FFGRAD_REPLACES(gsl_multimin_fdfminimizer_set, ffgrad_gsl_multimin_fdfminimizer_set)
FFGRAD_REPLACES(gsl_multimin_fdfminimizer_x, ffgrad_gsl_multimin_fdfminimizer_x)
FFGRAD_REPLACES(gsl_multimin_fminimizer_alloc, ffgrad_gsl_multimin_fminimizer_alloc)
FFGRAD_REPLACES(gsl_multimin_fminimizer_free, ffgrad_gsl_multimin_fminimizer_free)
FFGRAD_REPLACES(gsl_multimin_fminimizer_iterate, ffgrad_gsl_multimin_fminimizer_iterate)
FFGRAD_REPLACES(gsl_multimin_fminimizer_minimum, ffgrad_gsl_multimin_fminimizer_minimum)
FFGRAD_REPLACES(gsl_multimin_fminimizer_set, ffgrad_gsl_multimin_fminimizer_set)
FFGRAD_REPLACES(gsl_multimin_fminimizer_size, ffgrad_gsl_multimin_fminimizer_size)
FFGRAD_REPLACES(gsl_multimin_fminimizer_x, ffgrad_gsl_multimin_fminimizer_x)
FFGRAD_REPLACES(gsl_multimin_test_gradient, ffgrad_gsl_multimin_test_gradient)
FFGRAD_REPLACES(gsl_multimin_test_size, ffgrad_gsl_multimin_test_size)

#define G(name) ffgrad_gsl_multimin_##name
#define EACH(i, n) for (size_t i = 0; i < (n); i++)

typedef double objective(const vector *, void *);
typedef void slopes(const vector *, void *, vector *);
typedef void both(const vector *, void *, double *, vector *);
typedef struct {
  objective *f;
  size_t n;
  void *params;
} gsl_multimin_function;
typedef struct {
  objective *f;
  slopes *df;
  both *fdf;
  size_t n;
  void *params;
} gsl_multimin_function_fdf;

/* GSL's own: objects are integers here and other pointers marked, because nothing of the program's is kept in them. */
#define KEPT_NOWHERE __attribute__((noescape))
extern long gsl_multimin_fminimizer_alloc(long, size_t);
extern int gsl_multimin_fminimizer_set(long, gsl_multimin_function *KEPT_NOWHERE, const vector *KEPT_NOWHERE,
                                       const vector *KEPT_NOWHERE);
extern int gsl_multimin_fminimizer_iterate(long);
extern void gsl_multimin_fminimizer_free(long);
extern long gsl_multimin_fdfminimizer_alloc(long, size_t);
extern int gsl_multimin_fdfminimizer_set(long, gsl_multimin_function_fdf *KEPT_NOWHERE, const vector *KEPT_NOWHERE, double, double);
extern int gsl_multimin_fdfminimizer_iterate(long);
extern int gsl_multimin_fdfminimizer_restart(long);
extern void gsl_multimin_fdfminimizer_free(long);

/* The members of GSL's objects. */
typedef struct {
  const void *type, *function;
  double value;
  const vector *x;
  double size;
} plain;
typedef struct {
  const void *type, *function;
  double value;
  const vector *x, *gradient, *dx;
} sloped;

/* A minimiser of GSL's, and the function that it calls. */
typedef struct {
  long minimizer;
  gsl_multimin_function function;
  gsl_multimin_function_fdf with_slopes;
} minimizing;

/* Makes a minimiser, or frees it, or restarts it; Enzyme sees no inside of it. */
enum { MAKE, FREE, RESTART };
long ffgrad_gsl_multimin(int has_slopes, int what, long given, size_t n) {
  minimizing *s = (minimizing *)given;
  if (what == RESTART) return gsl_multimin_fdfminimizer_restart(s->minimizer);
  if (what == FREE) {
    if (has_slopes) gsl_multimin_fdfminimizer_free(s->minimizer);
    else gsl_multimin_fminimizer_free(s->minimizer);
    free(s);
    return 0;
  }
  s = calloc(1, sizeof(minimizing));
  s->minimizer = has_slopes ? gsl_multimin_fdfminimizer_alloc(given, n) : gsl_multimin_fminimizer_alloc(given, n);
  return (long)s;
}
long ffgrad_gsl_multimin_fwd(int has_slopes, int what, long given, size_t n) { return ffgrad_gsl_multimin(has_slopes, what, given, n); }
void ffgrad_gsl_multimin_rev(int has_slopes, int what, long given, size_t n) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_multimin, ffgrad_gsl_multimin_fwd, ffgrad_gsl_multimin_rev);

/* The gradient at a place, by the callback or by differences of the function with these steps. `work` has room for a place. */
static inline void gradient_at(objective *f, slopes *df, void *params, size_t n, const double *x, const double *step, double *gradient,
                               double *work) {
  vector at = {n, 1, work, NULL, 0}, to = {n, 1, gradient, NULL, 0};
  EACH(i, n) work[i] = x[i];
  if (df) {
    df(&at, params, &to);
    return;
  }
  EACH(j, n) {
    double sum = 0;
    for (int k = -3; k <= 3; k++) {
      if (k == 0) continue;
      work[j] = x[j] + k * step[j];
      sum += difference_weight(k) / step[j] * f(&at, params);
    }
    work[j] = x[j];
    gradient[j] = sum;
  }
}

/* What GSL has computed, and what the Newton steps need, in a row of numbers. */
enum { VALUE, SIZE, IS_NEAR, NUMBERS };
typedef struct {
  double *x, *gradient, *dx, *step, *hessian;
} parts;
static inline size_t room_for(size_t n) { return NUMBERS + 4 * n + n * n; }
static inline parts parts_of(double *out, size_t n) {
  double *x = out + NUMBERS;
  return (parts){x, x + n, x + 2 * n, x + 3 * n, x + 4 * n};
}

/* Computes steps and the Hessian at `x`, and whether a minimum is near: by a Newton step that is short. */
static void measure(objective *f, slopes *df, void *params, size_t n, double *out) {
  parts to = parts_of(out, n);
  double scale = 0, far = 0;
  double *work = calloc(4 * n + n * n + 1, sizeof(double)), *at = work + n, *g = at + n, *newton = g + n, *copy = newton + n;
  EACH(i, n) scale = fmax(scale, fabs(to.x[i]));
  scale = scale > 0 ? scale : 1;
  EACH(i, n) to.step[i] = 1e-3 * fmax(fabs(to.x[i]), 0.01 * scale);
  EACH(i, n * n) to.hessian[i] = 0;
  /* Differences of differences lose more: longer steps. */
  double wide = df ? 1 : 10;
  EACH(j, n) {
    for (int k = -3; k <= 3; k++) {
      if (k == 0) continue;
      EACH(i, n) at[i] = to.x[i] + (i == j ? k * wide * to.step[i] : 0);
      gradient_at(f, df, params, n, at, to.step, g, work);
      EACH(i, n) to.hessian[i * n + j] += difference_weight(k) / (wide * to.step[j]) * g[i];
    }
  }
  EACH(i, n) EACH(j, i) to.hessian[i * n + j] = to.hessian[j * n + i] = 0.5 * (to.hessian[i * n + j] + to.hessian[j * n + i]);
  gradient_at(f, df, params, n, to.x, to.step, newton, work);
  EACH(i, n * n) copy[i] = to.hessian[i];
  eliminate(n, copy, newton);
  EACH(i, n) far = newton[i] == newton[i] ? fmax(far, fabs(newton[i])) : INFINITY;
  out[IS_NEAR] = far <= 1e-2 * scale;
  free(work);
}

/* Sets a minimiser to `start` with its steps, or iterates it. */
int ffgrad_gsl_multimin_solve(int has_slopes, int sets, long given, objective *f, slopes *df, both *fdf, void *params, size_t n,
                              const double *start, const double *steps, double *out) {
  minimizing *s = (minimizing *)given;
  s->function = (gsl_multimin_function){f, n, params};
  s->with_slopes = (gsl_multimin_function_fdf){f, df, fdf, n, params};
  vector at = {n, 1, (double *)start, NULL, 0}, first = {n, 1, (double *)steps, NULL, 0};
  int status;
  if (sets)
    status = has_slopes ? gsl_multimin_fdfminimizer_set(s->minimizer, &s->with_slopes, &at, steps[0], steps[1])
                        : gsl_multimin_fminimizer_set(s->minimizer, &s->function, &at, &first);
  else status = has_slopes ? gsl_multimin_fdfminimizer_iterate(s->minimizer) : gsl_multimin_fminimizer_iterate(s->minimizer);
  const plain *p = (const plain *)s->minimizer;
  const sloped *q = (const sloped *)s->minimizer;
  parts to = parts_of(out, n);
  out[VALUE] = has_slopes ? q->value : p->value;
  out[SIZE] = has_slopes ? 0 : p->size;
  out[IS_NEAR] = 0;
  EACH(i, n) {
    to.x[i] = has_slopes ? V(q->x, i) : V(p->x, i);
    to.gradient[i] = has_slopes ? V(q->gradient, i) : 0;
    to.dx[i] = has_slopes ? V(q->dx, i) : 0;
  }
  if (!sets) measure(f, has_slopes ? df : NULL, params, n, out);
  return status;
}
int ffgrad_gsl_multimin_solve_fwd(int has_slopes, int sets, long given, objective *f, objective *u1, slopes *df, slopes *u2, both *fdf,
                                  both *u3, void *params, void *dparams, size_t n, const double *start, const double *dstart,
                                  const double *steps, const double *dsteps, double *out, double *dout) {
  if (dout) memset(dout, 0, room_for(n) * sizeof(double));
  return ffgrad_gsl_multimin_solve(has_slopes, sets, given, f, df, fdf, params, n, start, steps, out);
}
void ffgrad_gsl_multimin_solve_rev(int has_slopes, int sets, long given, objective *f, objective *u1, slopes *df, slopes *u2, both *fdf,
                                   both *u3, void *params, void *dparams, size_t n, const double *start, double *dstart,
                                   const double *steps, double *dsteps, double *out, double *dout) {
  if (dout) memset(dout, 0, room_for(n) * sizeof(double));
}
FFGRAD_DERIVATIVES(ffgrad_gsl_multimin_solve, ffgrad_gsl_multimin_solve_fwd, ffgrad_gsl_multimin_solve_rev);

/* The caller's objects: the members that can be read have their places in GSL's. */
typedef struct {
  objective *f;
  slopes *df;
  both *fdf;
  void *params;
  long own;
} function;
typedef struct {
  long unused;
  function *function;
  double value;
  vector *x;
  double size;
} minimizer;
typedef struct {
  long unused;
  function *function;
  double value;
  vector *x, *gradient, *dx;
} sloped_minimizer;

static inline function *new_function(int has_slopes, const void *type, size_t n) {
  function *made = malloc(sizeof(function));
  *made = (function){NULL, NULL, NULL, NULL, ffgrad_gsl_multimin(has_slopes, MAKE, (long)type, n)};
  return made;
}

enum { NEWTON_STEPS = 2 };
/* GSL's numbers, of which place and value have derivatives near a minimum. Returns the value. */
static inline double solve(int has_slopes, int sets, function *g, const vector *start, const double *steps, vector *x, double *out,
                           int *status) {
  size_t n = x->size;
  double *place = malloc((3 * n + n * n + 1) * sizeof(double)), *slope = place + n, *work = slope + n, *copy = work + n;
  EACH(i, n) place[i] = start ? V(start, i) : 0;
  *status = ffgrad_gsl_multimin_solve(has_slopes, sets, g->own, g->f, g->df, g->fdf, g->params, n, place, steps, out);
  parts from = parts_of(out, n);
  EACH(i, n) place[i] = ffgrad_constant(from.x[i]);
  double value = ffgrad_constant(out[VALUE]);
  int is_near = ffgrad_constant(out[IS_NEAR]) != 0;
  vector at = {n, 1, place, NULL, 0};
  if (!sets && is_near) {
    for (int step = 0; step < NEWTON_STEPS; step++) {
      gradient_at(g->f, has_slopes ? g->df : NULL, g->params, n, place, from.step, slope, work);
      EACH(i, n * n) copy[i] = from.hessian[i];
      eliminate(n, copy, slope);
      EACH(i, n) place[i] -= slope[i];
    }
  }
  double like = sets ? 0 : g->f(&at, g->params);
  if (!sets) value = is_near ? ffgrad_value(value, like) : ffgrad_unsolved_value(value, like);
  EACH(i, n) {
    double own = ffgrad_constant(from.x[i]);
    x->data[i] = sets || is_near ? ffgrad_value(own, place[i]) : ffgrad_unsolved_value(own, like);
  }
  free(place);
  return value;
}

void *G(fminimizer_alloc)(const void *type, size_t n) {
  minimizer *made = malloc(sizeof(minimizer));
  made->unused = 0;
  made->function = new_function(0, type, n);
  made->value = made->size = 0;
  made->x = new_vector(n);
  return made;
}
void G(fminimizer_free)(minimizer *s) {
  if (!s) return;
  ffgrad_gsl_multimin(0, FREE, s->function->own, 0);
  free_vector(s->x);
  free(s->function);
  free(s);
}
static inline int plainly(minimizer *s, int sets, const vector *start, const vector *steps) {
  size_t n = s->x->size;
  double *out = malloc((room_for(n) + n) * sizeof(double)), *first = out + room_for(n);
  int status;
  EACH(i, n) first[i] = steps ? V(steps, i) : 0;
  s->value = solve(0, sets, s->function, start, first, s->x, out, &status);
  s->size = ffgrad_constant(out[SIZE]);
  free(out);
  return status;
}
int G(fminimizer_set)(minimizer *s, gsl_multimin_function *f, const vector *start, const vector *steps) {
  s->function->f = f->f;
  s->function->params = f->params;
  return plainly(s, 1, start, steps);
}
int G(fminimizer_iterate)(minimizer *s) { return plainly(s, 0, NULL, NULL); }
void *G(fminimizer_x)(const minimizer *s) { return s->x; }
double G(fminimizer_minimum)(const minimizer *s) { return s->value; }
double G(fminimizer_size)(const minimizer *s) { return s->size; }

void *G(fdfminimizer_alloc)(const void *type, size_t n) {
  sloped_minimizer *made = malloc(sizeof(sloped_minimizer));
  made->unused = 0;
  made->function = new_function(1, type, n);
  made->value = 0;
  made->x = new_vector(n);
  made->gradient = new_vector(n);
  made->dx = new_vector(n);
  return made;
}
void G(fdfminimizer_free)(sloped_minimizer *s) {
  if (!s) return;
  ffgrad_gsl_multimin(1, FREE, s->function->own, 0);
  free_vector(s->x);
  free_vector(s->gradient);
  free_vector(s->dx);
  free(s->function);
  free(s);
}
static inline int with_slopes(sloped_minimizer *s, int sets, const vector *start, double step, double tol) {
  size_t n = s->x->size;
  double *out = malloc((room_for(n) + 2) * sizeof(double)), *steps = out + room_for(n);
  int status;
  steps[0] = step;
  steps[1] = tol;
  s->value = solve(1, sets, s->function, start, steps, s->x, out, &status);
  parts from = parts_of(out, n);
  EACH(i, n) s->gradient->data[i] = ffgrad_constant(from.gradient[i]), s->dx->data[i] = ffgrad_constant(from.dx[i]);
  free(out);
  return status;
}
int G(fdfminimizer_set)(sloped_minimizer *s, gsl_multimin_function_fdf *f, const vector *start, double step, double tol) {
  s->function->f = f->f;
  s->function->df = f->df;
  s->function->fdf = f->fdf;
  s->function->params = f->params;
  return with_slopes(s, 1, start, step, tol);
}
int G(fdfminimizer_iterate)(sloped_minimizer *s) { return with_slopes(s, 0, NULL, 0, 0); }
int G(fdfminimizer_restart)(sloped_minimizer *s) { return (int)ffgrad_gsl_multimin(1, RESTART, s->function->own, 0); }
void *G(fdfminimizer_x)(const sloped_minimizer *s) { return s->x; }
void *G(fdfminimizer_gradient)(const sloped_minimizer *s) { return s->gradient; }
void *G(fdfminimizer_dx)(const sloped_minimizer *s) { return s->dx; }
double G(fdfminimizer_minimum)(const sloped_minimizer *s) { return s->value; }

int G(test_gradient)(const vector *g, double epsabs) {
  double sum = 0;
  EACH(i, g->size) sum += V(g, i) * V(g, i);
  return sqrt(sum) < epsabs ? SUCCESS : CONTINUE;
}
int G(test_size)(double size, double epsabs) { return size < epsabs ? SUCCESS : CONTINUE; }
