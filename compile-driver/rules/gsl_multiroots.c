/* Roots of systems of equations by GSL, with a callback. GSL iterates and computes the values; where the last step was small, the
 * vector `x` has the derivative of two Newton steps from there, which is the implicit function theorem's, for the second derivative,
 * too. Where these do not show that a root is near it is an error to ask for its derivative. The Jacobian is of differences of sixth order. Residuals and steps are constants.
 *
 * Source: GSL's reference manual for names and arguments; Fornberg, "Generation of finite difference formulas on arbitrarily
 * spaced grids" (1988), for the differences.
 */
#include <ffgrad/derivatives.h>
#include <ffgrad/rules/gsl_newton.h>
#include <ffgrad/rules/values.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_NEEDS(values.c)
FFGRAD_REPLACES(gsl_multiroot_fdfsolver_alloc, ffgrad_gsl_multiroot_fdfsolver_alloc)
FFGRAD_REPLACES(gsl_multiroot_fdfsolver_dx, ffgrad_gsl_multiroot_fdfsolver_dx)
FFGRAD_REPLACES(gsl_multiroot_fdfsolver_f, ffgrad_gsl_multiroot_fdfsolver_f)
FFGRAD_REPLACES(gsl_multiroot_fdfsolver_free, ffgrad_gsl_multiroot_fdfsolver_free)
FFGRAD_REPLACES(gsl_multiroot_fdfsolver_iterate, ffgrad_gsl_multiroot_fdfsolver_iterate)
FFGRAD_REPLACES(gsl_multiroot_fdfsolver_root, ffgrad_gsl_multiroot_fdfsolver_root)
FFGRAD_REPLACES(gsl_multiroot_fdfsolver_set, ffgrad_gsl_multiroot_fdfsolver_set)
FFGRAD_REPLACES(gsl_multiroot_fsolver_alloc, ffgrad_gsl_multiroot_fsolver_alloc)
FFGRAD_REPLACES(gsl_multiroot_fsolver_dx, ffgrad_gsl_multiroot_fsolver_dx)
FFGRAD_REPLACES(gsl_multiroot_fsolver_f, ffgrad_gsl_multiroot_fsolver_f)
FFGRAD_REPLACES(gsl_multiroot_fsolver_free, ffgrad_gsl_multiroot_fsolver_free)
FFGRAD_REPLACES(gsl_multiroot_fsolver_iterate, ffgrad_gsl_multiroot_fsolver_iterate)
FFGRAD_REPLACES(gsl_multiroot_fsolver_root, ffgrad_gsl_multiroot_fsolver_root)
FFGRAD_REPLACES(gsl_multiroot_fsolver_set, ffgrad_gsl_multiroot_fsolver_set)
FFGRAD_REPLACES(gsl_multiroot_test_delta, ffgrad_gsl_multiroot_test_delta)
FFGRAD_REPLACES(gsl_multiroot_test_residual, ffgrad_gsl_multiroot_test_residual)

typedef int equations(const vector *, void *, vector *);
typedef int slopes(const vector *, void *, matrix *);
typedef int both(const vector *, void *, vector *, matrix *);
typedef struct {
  equations *f;
  size_t n;
  void *params;
} gsl_multiroot_function;
typedef struct {
  equations *f;
  slopes *df;
  both *fdf;
  size_t n;
  void *params;
} gsl_multiroot_function_fdf;

/* GSL's own: objects are integers here and other pointers marked, because nothing of the program's is kept in them. */
#define KEPT_NOWHERE __attribute__((noescape))
extern long gsl_multiroot_fsolver_alloc(long, size_t);
extern int gsl_multiroot_fsolver_set(long, gsl_multiroot_function *KEPT_NOWHERE, const vector *KEPT_NOWHERE);
extern int gsl_multiroot_fsolver_iterate(long);
extern void gsl_multiroot_fsolver_free(long);
extern long gsl_multiroot_fdfsolver_alloc(long, size_t);
extern int gsl_multiroot_fdfsolver_set(long, gsl_multiroot_function_fdf *KEPT_NOWHERE, const vector *KEPT_NOWHERE);
extern int gsl_multiroot_fdfsolver_iterate(long);
extern void gsl_multiroot_fdfsolver_free(long);

/* The members of GSL's objects. */
typedef struct {
  const void *type, *function;
  const vector *x, *f, *dx;
} plain;
typedef struct {
  const void *type, *function;
  const vector *x, *f;
  const matrix *jacobian;
  const vector *dx;
} sloped;

/* A solver of GSL's, and the function that it calls. */
typedef struct {
  long solver;
  gsl_multiroot_function function;
  gsl_multiroot_function_fdf with_slopes;
} solving;

/* Makes a solver, or frees it; Enzyme sees no inside of it. */
long ffgrad_gsl_multiroot(int sloped, int frees, long given, size_t n) {
  if (frees) {
    solving *s = (solving *)given;
    if (sloped) gsl_multiroot_fdfsolver_free(s->solver);
    if (!sloped) gsl_multiroot_fsolver_free(s->solver);
    free(s);
    return 0;
  }
  solving *s = calloc(1, sizeof(solving));
  s->solver = sloped ? gsl_multiroot_fdfsolver_alloc(given, n) : gsl_multiroot_fsolver_alloc(given, n);
  return (long)s;
}
long ffgrad_gsl_multiroot_fwd(int sloped, int frees, long given, size_t n) {
  return ffgrad_gsl_multiroot(sloped, frees, given, n);
}
void ffgrad_gsl_multiroot_rev(int sloped, int frees, long given, size_t n) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_multiroot, ffgrad_gsl_multiroot_fwd, ffgrad_gsl_multiroot_rev);

/* Sets a solver to `start`, or iterates it, and writes x, f and dx. */
int ffgrad_gsl_multiroot_solve(int has_slopes, int sets, long given, equations *f, slopes *df, both *fdf, void *params, size_t n,
                               const double *start, double *out) {
  solving *s = (solving *)given;
  s->function = (gsl_multiroot_function){f, n, params};
  s->with_slopes = (gsl_multiroot_function_fdf){f, df, fdf, n, params};
  vector at = {n, 1, (double *)start, NULL, 0};
  int status;
  if (sets)
    status = has_slopes ? gsl_multiroot_fdfsolver_set(s->solver, &s->with_slopes, &at)
                        : gsl_multiroot_fsolver_set(s->solver, &s->function, &at);
  else
    status = has_slopes ? gsl_multiroot_fdfsolver_iterate(s->solver) : gsl_multiroot_fsolver_iterate(s->solver);
  const plain *p = (const plain *)s->solver;
  const sloped *q = (const sloped *)s->solver;
  const vector *dx = has_slopes ? q->dx : p->dx;
  for (size_t i = 0; i < n; i++) out[i] = V(p->x, i), out[n + i] = V(p->f, i), out[2 * n + i] = V(dx, i);
  return status;
}
int ffgrad_gsl_multiroot_solve_fwd(int has_slopes, int sets, long given, equations *f, equations *u1, slopes *df, slopes *u2,
                                   both *fdf, both *u3, void *params, void *dparams, size_t n, const double *start,
                                   const double *dstart, double *out, double *dout) {
  if (dout) memset(dout, 0, 3 * n * sizeof(double));
  return ffgrad_gsl_multiroot_solve(has_slopes, sets, given, f, df, fdf, params, n, start, out);
}
void ffgrad_gsl_multiroot_solve_rev(int has_slopes, int sets, long given, equations *f, equations *u1, slopes *df, slopes *u2,
                                    both *fdf, both *u3, void *params, void *dparams, size_t n, const double *start,
                                    double *dstart, double *out, double *dout) {
  if (dout) memset(dout, 0, 3 * n * sizeof(double));
}
FFGRAD_DERIVATIVES(ffgrad_gsl_multiroot_solve, ffgrad_gsl_multiroot_solve_fwd, ffgrad_gsl_multiroot_solve_rev);

/* The caller's object without Jacobian: the vectors have their places in GSL's. */
typedef struct {
  equations *f;
  slopes *df;
  both *fdf;
  void *params;
  long own;
} function;
typedef struct {
  long unused;
  function *function;
  vector *x, *f;
  /* In GSL's object with slopes the Jacobian comes before the step. */
  void *dx_or_jacobian, *dx_behind;
} solver;

/* The slopes of all equations by one unknown, by differences of sixth order. `work` has room for one state and one residual. */
static inline void column(function *g, size_t n, const double *x, size_t j, double d, double *jacobian, double *work) {
  vector at = {n, 1, work, NULL, 0}, f = {n, 1, work + n, NULL, 0};
  for (size_t i = 0; i < n; i++) jacobian[i * n + j] = 0;
  for (int k = -3; k <= 3; k++) {
    if (k == 0) continue;
    for (size_t i = 0; i < n; i++) work[i] = x[i] + (i == j ? k * d : 0);
    g->f(&at, g->params, &f);
    double w = difference_weight(k) / d;
    for (size_t i = 0; i < n; i++) jacobian[i * n + j] += w * work[n + i];
  }
}

/* Newton steps: the first gives the first derivative, both the second one. Returns whether they show that a root is near: the first is short,
 * and the second one far shorter, which it is not where the Jacobian is singular. */
enum { NEWTON_STEPS = 2 };
static inline int newton(function *g, size_t n, double *x, double scale) {
  double *jacobian = malloc(n * n * sizeof(double)), *work = malloc(2 * n * sizeof(double));
  double *residual = malloc(n * sizeof(double)), *size = malloc(n * sizeof(double));
  double length[NEWTON_STEPS] = {0, 0};
  for (size_t i = 0; i < n; i++) size[i] = 1e-3 * ffgrad_constant(fmax(fabs(x[i]), 0.01 * scale));
  for (int step = 0; step < NEWTON_STEPS; step++) {
    for (size_t j = 0; j < n; j++) column(g, n, x, j, size[j], jacobian, work);
    vector at = {n, 1, x, NULL, 0}, f = {n, 1, residual, NULL, 0};
    g->f(&at, g->params, &f);
    eliminate(n, jacobian, residual);
    for (size_t i = 0; i < n; i++) {
      x[i] -= residual[i];
      double own = fabs(ffgrad_constant(residual[i]));
      length[step] = own <= length[step] ? length[step] : own;
    }
  }
  free(jacobian);
  free(work);
  free(residual);
  free(size);
  return length[0] <= 1e-2 * scale && (length[1] <= 0.1 * length[0] || length[1] <= 1e-9 * scale);
}

/* A number that depends on what the equations depend on. */
static inline double sum_of_squares(function *g, size_t n, double *x) {
  double *residual = malloc(n * sizeof(double)), sum = 0;
  vector at = {n, 1, x, NULL, 0}, f = {n, 1, residual, NULL, 0};
  g->f(&at, g->params, &f);
  for (size_t i = 0; i < n; i++) sum += residual[i] * residual[i];
  free(residual);
  return sum;
}

static inline solver *new_solver(int has_slopes, const void *type, size_t n) {
  solver *made = malloc(sizeof(solver));
  made->function = malloc(sizeof(function));
  *made->function = (function){NULL, NULL, NULL, NULL, ffgrad_gsl_multiroot(has_slopes, 0, (long)type, n)};
  made->unused = 0;
  made->x = new_vector(n);
  made->f = new_vector(n);
  vector *dx = new_vector(n);
  made->dx_or_jacobian = has_slopes ? NULL : dx;
  made->dx_behind = has_slopes ? dx : NULL;
  return made;
}
static inline void free_solver(int has_slopes, solver *s) {
  if (!s) return;
  ffgrad_gsl_multiroot(has_slopes, 1, s->function->own, 0);
  free_vector(s->x);
  free_vector(s->f);
  free_vector(has_slopes ? s->dx_behind : s->dx_or_jacobian);
  free(s->function);
  free(s);
}

static inline int solve(int has_slopes, int sets, solver *s, const vector *start) {
  size_t n = s->x->size;
  function *g = s->function;
  vector *dx = has_slopes ? s->dx_behind : s->dx_or_jacobian;
  double *out = malloc(3 * n * sizeof(double)), *x = malloc(n * sizeof(double)), scale = 0, last = 0;
  for (size_t i = 0; i < n; i++) x[i] = start ? V(start, i) : 0;
  int status = ffgrad_gsl_multiroot_solve(has_slopes, sets, g->own, g->f, g->df, g->fdf, g->params, n, x, out);
  for (size_t i = 0; i < n; i++) {
    x[i] = ffgrad_constant(out[i]);
    scale = fmax(scale, fabs(x[i]));
    last = fmax(last, fabs(ffgrad_constant(out[2 * n + i])));
  }
  scale = scale > 0 ? scale : 1;
  int is_solved = !sets && last <= 1e-2 * scale && newton(g, n, x, scale);
  double like = sets || is_solved ? 0 : sum_of_squares(g, n, x);
  for (size_t i = 0; i < n; i++) {
    s->x->data[i] = sets || is_solved ? ffgrad_value(out[i], x[i]) : ffgrad_unsolved_value(out[i], like);
    s->f->data[i] = ffgrad_constant(out[n + i]);
    dx->data[i] = ffgrad_constant(out[2 * n + i]);
  }
  free(out);
  free(x);
  return status;
}

void *ffgrad_gsl_multiroot_fsolver_alloc(const void *type, size_t n) { return new_solver(0, type, n); }
void ffgrad_gsl_multiroot_fsolver_free(solver *s) { free_solver(0, s); }
int ffgrad_gsl_multiroot_fsolver_set(solver *s, gsl_multiroot_function *f, const vector *start) {
  s->function->f = f->f;
  s->function->params = f->params;
  return solve(0, 1, s, start);
}
int ffgrad_gsl_multiroot_fsolver_iterate(solver *s) { return solve(0, 0, s, NULL); }
void *ffgrad_gsl_multiroot_fsolver_root(const solver *s) { return s->x; }
void *ffgrad_gsl_multiroot_fsolver_f(const solver *s) { return s->f; }
void *ffgrad_gsl_multiroot_fsolver_dx(const solver *s) { return s->dx_or_jacobian; }

void *ffgrad_gsl_multiroot_fdfsolver_alloc(const void *type, size_t n) { return new_solver(1, type, n); }
void ffgrad_gsl_multiroot_fdfsolver_free(solver *s) { free_solver(1, s); }
int ffgrad_gsl_multiroot_fdfsolver_set(solver *s, gsl_multiroot_function_fdf *f, const vector *start) {
  s->function->f = f->f;
  s->function->df = f->df;
  s->function->fdf = f->fdf;
  s->function->params = f->params;
  return solve(1, 1, s, start);
}
int ffgrad_gsl_multiroot_fdfsolver_iterate(solver *s) { return solve(1, 0, s, NULL); }
void *ffgrad_gsl_multiroot_fdfsolver_root(const solver *s) { return s->x; }
void *ffgrad_gsl_multiroot_fdfsolver_f(const solver *s) { return s->f; }
void *ffgrad_gsl_multiroot_fdfsolver_dx(const solver *s) { return s->dx_behind; }

int ffgrad_gsl_multiroot_test_delta(const vector *dx, const vector *x, double epsabs, double epsrel) {
  for (size_t i = 0; i < x->size; i++)
    if (fabs(V(dx, i)) >= epsabs + epsrel * fabs(V(x, i)) && V(dx, i) != 0) return CONTINUE;
  return SUCCESS;
}
int ffgrad_gsl_multiroot_test_residual(const vector *f, double epsabs) {
  double sum = 0;
  for (size_t i = 0; i < f->size; i++) sum += fabs(V(f, i));
  return sum < epsabs ? SUCCESS : CONTINUE;
}
