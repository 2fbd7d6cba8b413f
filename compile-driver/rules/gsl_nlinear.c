/* Nonlinear least squares by GSL, with callbacks. GSL iterates and computes the values; where GSL has come near a minimum of the sum of squares,
 * position, residuals and Jacobian have the derivatives of two Newton steps from there, which are the implicit function theorem's, for the second
 * derivative, too: the Jacobian is that of differences, and so is the Hessian, which is a constant. Elsewhere they are not-a-number. Steps, and what says how far
 * GSL has come, are constants.
 *
 * Source: GSL's reference manual for names, arguments and default parameters; Fornberg, "Generation of finite difference formulas on arbitrarily
 * spaced grids" (1988), for the differences.
 */
#include <ffgrad/derivatives.h>
#include <ffgrad/rules/gsl_newton.h>
#include <ffgrad/rules/values.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_NEEDS(values.c)
FFGRAD_REPLACES(gsl_multifit_nlinear_alloc, ffgrad_gsl_multifit_nlinear_alloc)
FFGRAD_REPLACES(gsl_multifit_nlinear_covar, ffgrad_gsl_multifit_nlinear_covar)
FFGRAD_REPLACES(gsl_multifit_nlinear_default_parameters, ffgrad_gsl_multifit_nlinear_default_parameters)
FFGRAD_REPLACES(gsl_multifit_nlinear_driver, ffgrad_gsl_multifit_nlinear_driver)
FFGRAD_REPLACES(gsl_multifit_nlinear_free, ffgrad_gsl_multifit_nlinear_free)
FFGRAD_REPLACES(gsl_multifit_nlinear_init, ffgrad_gsl_multifit_nlinear_init)
FFGRAD_REPLACES(gsl_multifit_nlinear_iterate, ffgrad_gsl_multifit_nlinear_iterate)
FFGRAD_REPLACES(gsl_multifit_nlinear_jac, ffgrad_gsl_multifit_nlinear_jac)
FFGRAD_REPLACES(gsl_multifit_nlinear_niter, ffgrad_gsl_multifit_nlinear_niter)
FFGRAD_REPLACES(gsl_multifit_nlinear_position, ffgrad_gsl_multifit_nlinear_position)
FFGRAD_REPLACES(gsl_multifit_nlinear_residual, ffgrad_gsl_multifit_nlinear_residual)
FFGRAD_REPLACES(gsl_multifit_nlinear_winit, ffgrad_gsl_multifit_nlinear_winit)

#define G(name) ffgrad_gsl_multifit_nlinear_##name
#define EACH(i, n) for (size_t i = 0; i < (n); i++)

typedef int residuals(const vector *, void *, vector *);
typedef int slopes(const vector *, void *, matrix *);
typedef int curvature(const vector *, const vector *, void *, vector *);
typedef struct {
  residuals *f;
  slopes *df;
  curvature *fvv;
  size_t n, p;
  void *params;
  size_t nevalf, nevaldf, nevalfvv;
} gsl_multifit_nlinear_fdf;
typedef struct {
  const void *trs, *scale, *solver;
  int fdtype;
  double factor_up, factor_down, avmax, h_df, h_fvv;
} parameters;
typedef void report(size_t, void *, const void *);

/* GSL's own: objects are integers here and other pointers marked, because nothing of the program's is kept in them. */
#define KEPT_NOWHERE __attribute__((noescape))
extern long gsl_multifit_nlinear_alloc(long, const parameters *KEPT_NOWHERE, size_t, size_t);
extern void gsl_multifit_nlinear_free(long);
extern int gsl_multifit_nlinear_winit(const vector *KEPT_NOWHERE, const vector *KEPT_NOWHERE, gsl_multifit_nlinear_fdf *KEPT_NOWHERE, long);
extern int gsl_multifit_nlinear_iterate(long);
extern int gsl_multifit_nlinear_driver(size_t, double, double, double, report *KEPT_NOWHERE, void *KEPT_NOWHERE, int *KEPT_NOWHERE, long);
extern int gsl_multifit_nlinear_covar(const matrix *KEPT_NOWHERE, double, matrix *KEPT_NOWHERE);
extern const void *gsl_multifit_nlinear_trs_lm, *gsl_multifit_nlinear_scale_more, *gsl_multifit_nlinear_solver_qr;

/* The members of GSL's object. */
typedef struct {
  const void *type, *fdf;
  const vector *x, *f, *dx, *g;
  const matrix *jacobian;
  const vector *root_weights, *used_weights;
  size_t niter;
} workspace;

/* A workspace of GSL's, and the functions that it calls. */
typedef struct {
  long workspace;
  gsl_multifit_nlinear_fdf functions;
} fitting;

/* Makes a workspace; Enzyme sees no inside of it. */
long ffgrad_gsl_nlinear(long type, const parameters *given, size_t n, size_t p) {
  fitting *s = calloc(1, sizeof(fitting));
  s->workspace = gsl_multifit_nlinear_alloc(type, given, n, p);
  return (long)s;
}
long ffgrad_gsl_nlinear_fwd(long type, const parameters *given, const parameters *unused, size_t n, size_t p) {
  return ffgrad_gsl_nlinear(type, given, n, p);
}
void ffgrad_gsl_nlinear_rev(long type, const parameters *given, const parameters *unused, size_t n, size_t p) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_nlinear, ffgrad_gsl_nlinear_fwd, ffgrad_gsl_nlinear_rev);
/* Frees it. */
void ffgrad_gsl_nlinear_free(long given) {
  fitting *s = (fitting *)given;
  gsl_multifit_nlinear_free(s->workspace);
  free(s);
}
void ffgrad_gsl_nlinear_free_fwd(long given) { ffgrad_gsl_nlinear_free(given); }
void ffgrad_gsl_nlinear_free_rev(long given) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_nlinear_free, ffgrad_gsl_nlinear_free_fwd, ffgrad_gsl_nlinear_free_rev);

/* What is fitted. */
typedef struct {
  residuals *f;
  slopes *df;
  curvature *fvv;
  void *params;
  size_t n, p;
} problem;

/* Residuals and Jacobian at a place, with roots of weights: by differences with these steps, because a callback for the Jacobian has the type of the
 * one for residuals, and Enzyme would take each for the other. `work`: room for a place and for residuals. */
static inline void evaluate(const problem *of, const double *x, const double *roots, const double *step, double *f, double *jacobian,
                            double *work) {
  size_t n = of->n, p = of->p;
  vector at = {p, 1, work, NULL, 0}, values = {n, 1, f, NULL, 0}, other = {n, 1, work + p, NULL, 0};
  EACH(i, p) work[i] = x[i];
  EACH(i, n * p) jacobian[i] = 0;
  EACH(j, p) {
    for (int k = -3; k <= 3; k++) {
      if (k == 0) continue;
      work[j] = x[j] + k * step[j];
      of->f(&at, of->params, &other);
      EACH(i, n) jacobian[i * p + j] += difference_weight(k) / step[j] * work[p + i];
    }
    work[j] = x[j];
  }
  of->f(&at, of->params, &values);
  EACH(i, n) {
    f[i] *= roots[i];
    EACH(j, p) jacobian[i * p + j] *= roots[i];
  }
}
/* The gradient of half the sum of squares. */
static inline void gradient(size_t n, size_t p, const double *f, const double *jacobian, double *g) {
  EACH(j, p) g[j] = 0;
  EACH(i, n) EACH(j, p) g[j] += jacobian[i * p + j] * f[i];
}

/* What GSL has computed, and what the Newton steps need, in a row of numbers. */
enum { IS_NEAR, COUNT, INFO, NUMBERS };
typedef struct {
  double *x, *f, *dx, *g, *jacobian, *step, *hessian;
} parts;
static inline size_t room_for(size_t n, size_t p) { return NUMBERS + n + n * p + 4 * p + p * p; }
static inline parts parts_of(double *out, size_t n, size_t p) {
  double *x = out + NUMBERS, *f = x + p, *dx = f + n, *g = dx + p, *jacobian = g + p, *step = jacobian + n * p;
  return (parts){x, f, dx, g, jacobian, step, step + p};
}

/* Computes steps and the Hessian at `x`, and whether a minimum is near: by a Newton step that is short. */
static void measure(const problem *of, const double *roots, double *out) {
  size_t n = of->n, p = of->p;
  parts to = parts_of(out, n, p);
  double scale = 0, far = 0;
  double *f = calloc(2 * n + n * p + 4 * p + p * p + 1, sizeof(double)), *jacobian = f + n, *at = jacobian + n * p, *g = at + p;
  double *copy = g + p, *work = copy + p * p;
  EACH(i, p) scale = fmax(scale, fabs(to.x[i]));
  scale = scale > 0 ? scale : 1;
  EACH(i, p) to.step[i] = 1e-3 * fmax(fabs(to.x[i]), 0.01 * scale);
  EACH(i, p * p) to.hessian[i] = 0;
  /* Differences of differences lose more: longer steps. */
  const double wide = 10;
  EACH(j, p) {
    for (int k = -3; k <= 3; k++) {
      if (k == 0) continue;
      EACH(i, p) at[i] = to.x[i] + (i == j ? k * wide * to.step[i] : 0);
      evaluate(of, at, roots, to.step, f, jacobian, work);
      gradient(n, p, f, jacobian, g);
      EACH(i, p) to.hessian[i * p + j] += difference_weight(k) / (wide * to.step[j]) * g[i];
    }
  }
  EACH(i, p) EACH(j, i) to.hessian[i * p + j] = to.hessian[j * p + i] = 0.5 * (to.hessian[i * p + j] + to.hessian[j * p + i]);
  evaluate(of, to.x, roots, to.step, f, jacobian, work);
  gradient(n, p, f, jacobian, g);
  EACH(i, p * p) copy[i] = to.hessian[i];
  eliminate(p, copy, g);
  EACH(i, p) far = g[i] == g[i] ? fmax(far, fabs(g[i])) : INFINITY;
  out[IS_NEAR] = far <= 1e-2 * scale;
  free(f);
}

/* Sets a workspace to `start`, or iterates it, or has GSL iterate. */
enum { INIT, ITERATE, DRIVE };
int ffgrad_gsl_nlinear_solve(int what, long given, residuals *f, slopes *df, curvature *fvv, void *params, size_t n, size_t p,
                             const double *start, const double *weights, const double *limits, size_t most, report *tell, void *told,
                             double *out) {
  fitting *s = (fitting *)given;
  s->functions = (gsl_multifit_nlinear_fdf){f, df, fvv, n, p, params, 0, 0, 0};
  vector at = {p, 1, (double *)start, NULL, 0}, each = {n, 1, (double *)weights, NULL, 0};
  int status = 0, info = 0, weighted = limits[3] != 0;
  if (what == INIT) status = gsl_multifit_nlinear_winit(&at, weighted ? &each : NULL, &s->functions, s->workspace);
  if (what == ITERATE) status = gsl_multifit_nlinear_iterate(s->workspace);
  if (what == DRIVE)
    status = gsl_multifit_nlinear_driver(most, limits[0], limits[1], limits[2], tell, told, &info, s->workspace);
  const workspace *w = (const workspace *)s->workspace;
  parts to = parts_of(out, n, p);
  out[IS_NEAR] = 0;
  out[COUNT] = (double)w->niter;
  out[INFO] = info;
  EACH(i, p) to.x[i] = V(w->x, i), to.dx[i] = V(w->dx, i), to.g[i] = V(w->g, i);
  EACH(i, n) {
    to.f[i] = V(w->f, i);
    EACH(j, p) to.jacobian[i * p + j] = M(w->jacobian, i, j);
  }
  if (what == INIT) return status;
  problem of = {f, df, fvv, params, n, p};
  double *roots = calloc(n + 1, sizeof(double));
  EACH(i, n) roots[i] = weighted ? sqrt(weights[i]) : 1;
  measure(&of, roots, out);
  free(roots);
  return status;
}
int ffgrad_gsl_nlinear_solve_fwd(int what, long given, residuals *f, residuals *u1, slopes *df, slopes *u2, curvature *fvv, curvature *u3,
                                 void *params, void *dparams, size_t n, size_t p, const double *start, const double *u4,
                                 const double *weights, const double *u5, const double *limits, const double *u6, size_t most,
                                 report *tell, report *u7, void *told, void *u8, double *out, double *dout) {
  if (dout) memset(dout, 0, room_for(n, p) * sizeof(double));
  return ffgrad_gsl_nlinear_solve(what, given, f, df, fvv, params, n, p, start, weights, limits, most, tell, told, out);
}
void ffgrad_gsl_nlinear_solve_rev(int what, long given, residuals *f, residuals *u1, slopes *df, slopes *u2, curvature *fvv, curvature *u3,
                                  void *params, void *dparams, size_t n, size_t p, const double *start, double *u4, const double *weights,
                                  double *u5, const double *limits, double *u6, size_t most, report *tell, report *u7, void *told,
                                  void *u8, double *out, double *dout) {
  if (dout) memset(dout, 0, room_for(n, p) * sizeof(double));
}
FFGRAD_DERIVATIVES(ffgrad_gsl_nlinear_solve, ffgrad_gsl_nlinear_solve_fwd, ffgrad_gsl_nlinear_solve_rev);

/* The caller's object: the first members have their places in GSL's, so that a report which GSL calls can read both. */
typedef struct {
  long unused;
  problem *problem;
  vector *x, *f, *dx, *g;
  matrix *jacobian;
  vector *weights;
  long own;
  size_t niter;
  int weighted;
} fit;

void *G(alloc)(const void *type, const parameters *given, size_t n, size_t p) {
  fit *made = malloc(sizeof(fit));
  made->unused = 0;
  made->problem = malloc(sizeof(problem));
  *made->problem = (problem){NULL, NULL, NULL, NULL, n, p};
  made->x = new_vector(p);
  made->f = new_vector(n);
  made->dx = new_vector(p);
  made->g = new_vector(p);
  made->jacobian = malloc(sizeof(matrix));
  *made->jacobian = (matrix){n, p, p, calloc(n * p, sizeof(double)), NULL, 1};
  made->weights = new_vector(n);
  made->own = ffgrad_gsl_nlinear((long)type, given, n, p);
  made->niter = 0;
  made->weighted = 0;
  return made;
}
void G(free)(fit *w) {
  if (!w) return;
  ffgrad_gsl_nlinear_free(w->own);
  free_vector(w->x);
  free_vector(w->f);
  free_vector(w->dx);
  free_vector(w->g);
  free(w->jacobian->data);
  free(w->jacobian);
  free_vector(w->weights);
  free(w->problem);
  free(w);
}
parameters G(default_parameters)(void) {
  return (parameters){gsl_multifit_nlinear_trs_lm, gsl_multifit_nlinear_scale_more, gsl_multifit_nlinear_solver_qr, 0, 3, 2, 0.75,
                      1.4901161193847656e-08, 0.02};
}

enum { NEWTON_STEPS = 2 };
static inline int solve(fit *w, int what, const vector *start, double xtol, double gtol, double ftol, size_t most, report *tell, void *told,
                        int *info) {
  const problem *of = w->problem;
  size_t n = of->n, p = of->p;
  double *out = malloc((room_for(n, p) + 4 + 4 * p + p * p + 3 * n + n * p) * sizeof(double)), *limits = out + room_for(n, p);
  double *x = limits + 4, *g = x + p, *copy = g + p, *f = copy + p * p, *jacobian = f + n, *roots = jacobian + n * p, *work = roots + n;
  limits[0] = xtol, limits[1] = gtol, limits[2] = ftol, limits[3] = w->weighted;
  EACH(i, p) x[i] = start ? V(start, i) : 0;
  int status = ffgrad_gsl_nlinear_solve(what, w->own, of->f, of->df, of->fvv, of->params, n, p, x, w->weights->data, limits, most, tell, told,
                                        out);
  parts from = parts_of(out, n, p);
  EACH(i, n) roots[i] = w->weighted ? sqrt(w->weights->data[i]) : 1;
  EACH(i, p) x[i] = ffgrad_constant(from.x[i]);
  EACH(i, n) f[i] = ffgrad_constant(from.f[i]);
  EACH(i, n * p) jacobian[i] = ffgrad_constant(from.jacobian[i]);
  int is_near = ffgrad_constant(out[IS_NEAR]) != 0;
  double like = 0;
  if (what != INIT && is_near) {
    for (int step = 0; step < NEWTON_STEPS; step++) {
      evaluate(of, x, roots, from.step, f, jacobian, work);
      gradient(n, p, f, jacobian, g);
      EACH(i, p * p) copy[i] = from.hessian[i];
      eliminate(p, copy, g);
      EACH(i, p) x[i] -= g[i];
    }
  }
  if (what != INIT) {
    evaluate(of, x, roots, from.step, f, jacobian, work);
    EACH(i, n) like += f[i] * f[i];
  }
  /* Where GSL has not come near a minimum, nothing says what its last place depends on. */
  int is_known = what == INIT || is_near;
#define KNOWN(value, by) (is_known ? ffgrad_value(value, by) : ffgrad_unsolved_value(value, like))
  EACH(i, p) {
    w->x->data[i] = KNOWN(ffgrad_constant(from.x[i]), x[i]);
    w->dx->data[i] = ffgrad_constant(from.dx[i]);
    w->g->data[i] = ffgrad_constant(from.g[i]);
  }
  EACH(i, n) w->f->data[i] = KNOWN(ffgrad_constant(from.f[i]), f[i]);
  EACH(i, n * p) w->jacobian->data[i] = KNOWN(ffgrad_constant(from.jacobian[i]), jacobian[i]);
#undef KNOWN
  w->niter = (size_t)ffgrad_constant(out[COUNT]);
  if (info) *info = (int)ffgrad_constant(out[INFO]);
  free(out);
  return status;
}
int G(winit)(const vector *x, const vector *weights, gsl_multifit_nlinear_fdf *given, fit *w) {
  problem *of = w->problem;
  of->f = given->f;
  of->df = given->df;
  of->fvv = given->fvv;
  of->params = given->params;
  w->weighted = weights != NULL;
  EACH(i, of->n) w->weights->data[i] = weights ? V(weights, i) : 1;
  return solve(w, INIT, x, 0, 0, 0, 0, NULL, NULL, NULL);
}
int G(init)(const vector *x, gsl_multifit_nlinear_fdf *given, fit *w) { return G(winit)(x, NULL, given, w); }
int G(iterate)(fit *w) { return solve(w, ITERATE, NULL, 0, 0, 0, 0, NULL, NULL, NULL); }
int G(driver)(size_t most, double xtol, double gtol, double ftol, report *tell, void *told, int *info, fit *w) {
  return solve(w, DRIVE, NULL, xtol, gtol, ftol, most, tell, told, info);
}
void *G(position)(const fit *w) { return w->x; }
void *G(residual)(const fit *w) { return w->f; }
void *G(jac)(const fit *w) { return w->jacobian; }
size_t G(niter)(const fit *w) { return w->niter; }

/* (J^T J)^-1: GSL's number, which leaves columns out that depend on others, where there are none with the derivative of the inverse. */
int ffgrad_gsl_covar(size_t n, size_t p, const double *jacobian, double epsrel, double *out) {
  matrix from = {n, p, p, (double *)jacobian, NULL, 0}, to = {p, p, p, out, NULL, 0};
  return gsl_multifit_nlinear_covar(&from, epsrel, &to);
}
int ffgrad_gsl_covar_fwd(size_t n, size_t p, const double *jacobian, const double *dj, double epsrel, double de, double *out, double *dout) {
  if (dout) memset(dout, 0, p * p * sizeof(double));
  return ffgrad_gsl_covar(n, p, jacobian, epsrel, out);
}
void ffgrad_gsl_covar_rev(size_t n, size_t p, const double *jacobian, double *dj, double epsrel, double *de, double *out, double *dout) {
  if (dout) memset(dout, 0, p * p * sizeof(double));
}
FFGRAD_DERIVATIVES(ffgrad_gsl_covar, ffgrad_gsl_covar_fwd, ffgrad_gsl_covar_rev);
int G(covar)(const matrix *jacobian, double epsrel, matrix *covariance) {
  size_t n = jacobian->size1, p = jacobian->size2;
  double *plain = malloc((n * p + 3 * p * p + p) * sizeof(double)), *square = plain + n * p, *copy = square + p * p;
  double *out = copy + p * p, *column = out + p * p;
  EACH(i, n) EACH(j, p) plain[i * p + j] = M(jacobian, i, j);
  int status = ffgrad_gsl_covar(n, p, plain, epsrel, out);
  EACH(i, p) EACH(j, p) {
    square[i * p + j] = 0;
    EACH(k, n) square[i * p + j] += plain[k * p + i] * plain[k * p + j];
  }
  EACH(j, p) {
    EACH(i, p * p) copy[i] = square[i];
    EACH(i, p) column[i] = i == j;
    eliminate(p, copy, column);
    EACH(i, p) {
      double value = ffgrad_constant(out[i * p + j]), gap = ffgrad_constant(fabs(value - column[i]));
      double size = ffgrad_constant(fabs(out[i * p + i]) + fabs(out[j * p + j]));
      M(covariance, i, j) = ffgrad_value(value, gap <= 1e-6 * size ? column[i] : column[i] * NAN);
    }
  }
  free(plain);
  return status;
}
