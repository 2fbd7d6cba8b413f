/* Adaptive integration by GSL with a callback. The value is GSL's. The derivative is that of a sum over the subintervals at
 * which GSL arrived, in constant positions relative to the limits: it follows what the callback's parameters and the limits
 * do. Each half of a subinterval has a Gauss-Kronrod rule; where GSL extrapolates, the subintervals at the ends have the
 * double exponential rule, which takes singular ends.
 *
 * Source: QUADPACK (Piessens and others, 1983) for the 21 points, and for the maps of infinite ranges; Takahasi and Mori,
 * "Double exponential formulas for numerical integration" (1974); GSL's reference manual for the names.
 */
#include <ffgrad/derivatives.h>
#include <ffgrad/rules/values.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_NEEDS(values.c)
FFGRAD_REPLACES(gsl_integration_cquad, ffgrad_gsl_integration_cquad)
FFGRAD_REPLACES(gsl_integration_cquad_workspace_alloc, ffgrad_gsl_integration_cquad_workspace_alloc)
FFGRAD_REPLACES(gsl_integration_cquad_workspace_free, ffgrad_gsl_integration_cquad_workspace_free)
FFGRAD_REPLACES(gsl_integration_glfixed, ffgrad_gsl_integration_glfixed)
FFGRAD_REPLACES(gsl_integration_glfixed_table_alloc, ffgrad_gsl_integration_glfixed_table_alloc)
FFGRAD_REPLACES(gsl_integration_glfixed_table_free, ffgrad_gsl_integration_glfixed_table_free)
FFGRAD_REPLACES(gsl_integration_qag, ffgrad_gsl_integration_qag)
FFGRAD_REPLACES(gsl_integration_qagi, ffgrad_gsl_integration_qagi)
FFGRAD_REPLACES(gsl_integration_qagil, ffgrad_gsl_integration_qagil)
FFGRAD_REPLACES(gsl_integration_qagiu, ffgrad_gsl_integration_qagiu)
FFGRAD_REPLACES(gsl_integration_qagp, ffgrad_gsl_integration_qagp)
FFGRAD_REPLACES(gsl_integration_qags, ffgrad_gsl_integration_qags)
FFGRAD_REPLACES(gsl_integration_qk15, ffgrad_gsl_integration_qk15)
FFGRAD_REPLACES(gsl_integration_qk21, ffgrad_gsl_integration_qk21)
FFGRAD_REPLACES(gsl_integration_qk31, ffgrad_gsl_integration_qk31)
FFGRAD_REPLACES(gsl_integration_qk41, ffgrad_gsl_integration_qk41)
FFGRAD_REPLACES(gsl_integration_qk51, ffgrad_gsl_integration_qk51)
FFGRAD_REPLACES(gsl_integration_qk61, ffgrad_gsl_integration_qk61)
FFGRAD_REPLACES(gsl_integration_qng, ffgrad_gsl_integration_qng)
FFGRAD_REPLACES(gsl_integration_workspace_alloc, ffgrad_gsl_integration_workspace_alloc)
FFGRAD_REPLACES(gsl_integration_workspace_free, ffgrad_gsl_integration_workspace_free)

typedef double callback(double, void *);
typedef struct {
  callback *function;
  void *params;
} gsl_function;
enum { QAG, QAGS, QNG, CQUAD, QAGI, QAGIU, QAGIL };

/* GSL's own: workspaces are integers here and other pointers marked, because nothing of ours is kept in them. Of a workspace
 * the first members, which are public. */
#define KEPT_NOWHERE __attribute__((noescape))
#define FUNCTION const gsl_function *KEPT_NOWHERE
#define RESULT double *KEPT_NOWHERE, double *KEPT_NOWHERE
typedef struct {
  size_t limit, size, nrmax, i, maximum_level;
  double *alist, *blist;
} workspace;
extern uintptr_t gsl_integration_workspace_alloc(size_t);
extern void gsl_integration_workspace_free(uintptr_t);
extern uintptr_t gsl_integration_cquad_workspace_alloc(size_t);
extern void gsl_integration_cquad_workspace_free(uintptr_t);
extern uintptr_t gsl_integration_glfixed_table_alloc(size_t);
extern void gsl_integration_glfixed_table_free(uintptr_t);
extern int gsl_integration_glfixed_point(double, double, size_t, RESULT, uintptr_t);
extern int gsl_integration_qag(FUNCTION, double, double, double, double, size_t, int, uintptr_t, RESULT);
extern int gsl_integration_qags(FUNCTION, double, double, double, double, size_t, uintptr_t, RESULT);
extern int gsl_integration_qagp(FUNCTION, double *KEPT_NOWHERE, size_t, double, double, size_t, uintptr_t, RESULT);
extern void gsl_integration_qk15(FUNCTION, double, double, RESULT, RESULT);
extern void gsl_integration_qk21(FUNCTION, double, double, RESULT, RESULT);
extern void gsl_integration_qk31(FUNCTION, double, double, RESULT, RESULT);
extern void gsl_integration_qk41(FUNCTION, double, double, RESULT, RESULT);
extern void gsl_integration_qk51(FUNCTION, double, double, RESULT, RESULT);
extern void gsl_integration_qk61(FUNCTION, double, double, RESULT, RESULT);
extern int gsl_integration_qng(FUNCTION, double, double, double, double, RESULT, size_t *KEPT_NOWHERE);
extern int gsl_integration_cquad(FUNCTION, double, double, double, double, uintptr_t, RESULT, size_t *KEPT_NOWHERE);
extern int gsl_integration_qagi(FUNCTION, double, double, size_t, uintptr_t, RESULT);
extern int gsl_integration_qagiu(FUNCTION, double, double, double, size_t, uintptr_t, RESULT);
extern int gsl_integration_qagil(FUNCTION, double, double, double, size_t, uintptr_t, RESULT);

/* What GSL finds: the ends of the subintervals as fractions of the range stand behind it. */
typedef struct {
  double value, error;
  size_t evaluations, count;
  int status;
} found;
static double *fractions(found *of) { return (double *)(of + 1); }

/* Calls GSL; Enzyme sees no inside of it. The result is the address of what was found. */
long ffgrad_gsl_integrate(int kind, callback *function, void *params, double a, double b, double epsabs, double epsrel,
                          size_t limit, int key) {
  gsl_function f = {function, params};
  found now = {0, 0, 0, 0, 0};
  uintptr_t space = limit > 0 ? gsl_integration_workspace_alloc(limit) : 0;
  const workspace *inside = (const workspace *)space;
  if (kind == QAG) now.status = gsl_integration_qag(&f, a, b, epsabs, epsrel, limit, key, space, &now.value, &now.error);
  if (kind == QAGS) now.status = gsl_integration_qags(&f, a, b, epsabs, epsrel, limit, space, &now.value, &now.error);
  if (kind == QNG) now.status = gsl_integration_qng(&f, a, b, epsabs, epsrel, &now.value, &now.error, &now.evaluations);
  if (kind == QAGI) now.status = gsl_integration_qagi(&f, epsabs, epsrel, limit, space, &now.value, &now.error);
  if (kind == QAGIU) now.status = gsl_integration_qagiu(&f, a, epsabs, epsrel, limit, space, &now.value, &now.error);
  if (kind == QAGIL) now.status = gsl_integration_qagil(&f, a, epsabs, epsrel, limit, space, &now.value, &now.error);
  if (kind == CQUAD) {
    uintptr_t own = gsl_integration_cquad_workspace_alloc(key);
    now.status = gsl_integration_cquad(&f, a, b, epsabs, epsrel, own, &now.value, &now.error, &now.evaluations);
    gsl_integration_cquad_workspace_free(own);
    double value, error;
    gsl_integration_qag(&f, a, b, epsabs, fmax(epsrel, 1e-13), limit, 2, space, &value, &error);
  }
  int infinite = kind >= QAGI;
  int empty = !infinite && a == b;
  now.count = inside && inside->size > 0 && !empty ? inside->size : 1;
  found *made = malloc(sizeof(found) + 2 * now.count * sizeof(double));
  *made = now;
  double *edges = fractions(made);
  edges[0] = 0;
  edges[1] = 1;
  if (inside && inside->size > 0 && !empty)
    for (size_t i = 0; i < now.count; i++) {
      edges[2 * i] = infinite ? inside->alist[i] : (inside->alist[i] - a) / (b - a);
      edges[2 * i + 1] = infinite ? inside->blist[i] : (inside->blist[i] - a) / (b - a);
    }
  if (space) gsl_integration_workspace_free(space);
  return (long)made;
}
long ffgrad_gsl_integrate_fwd(int kind, callback *function, callback *unused, void *params, void *dparams, double a,
                              double da, double b, double db, double epsabs, double deps, double epsrel, double deps2,
                              size_t limit, int key) {
  return ffgrad_gsl_integrate(kind, function, params, a, b, epsabs, epsrel, limit, key);
}
void ffgrad_gsl_integrate_rev(int kind, callback *function, callback *unused, void *params, void *dparams, double a,
                              double *da, double b, double *db, double epsabs, double *deps, double epsrel,
                              double *deps2, size_t limit, int key) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_integrate, ffgrad_gsl_integrate_fwd, ffgrad_gsl_integrate_rev);

/* Numbers of what was found; the last call frees it. */
long ffgrad_gsl_found(long address, int what) {
  found *of = (found *)address;
  long result = what == 0 ? (long)of->count : what == 1 ? of->status : what == 2 ? (long)of->evaluations : 0;
  if (what == 3) free(of);
  return result;
}
long ffgrad_gsl_found_fwd(long address, int what) { return ffgrad_gsl_found(address, what); }
void ffgrad_gsl_found_rev(long address, int what) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_found, ffgrad_gsl_found_fwd, ffgrad_gsl_found_rev);

/* Copies value, error and fractions: constants. */
void ffgrad_gsl_copy_found(long address, double *to, long count) {
  found *of = (found *)address;
  to[0] = of->value;
  to[1] = of->error;
  memcpy(to + 2, fractions(of), 2 * count * sizeof(double));
}
void ffgrad_gsl_copy_found_fwd(long address, double *to, double *dto, long count) {
  ffgrad_gsl_copy_found(address, to, count);
  if (dto) memset(dto, 0, (2 * count + 2) * sizeof(double));
}
void ffgrad_gsl_copy_found_rev(long address, double *to, double *dto, long count) {
  if (dto) memset(dto, 0, (2 * count + 2) * sizeof(double));
}
FFGRAD_DERIVATIVES(ffgrad_gsl_copy_found, ffgrad_gsl_copy_found_fwd, ffgrad_gsl_copy_found_rev);

/* What is integrated over, and how far the integrand reaches on both sides of `a` where that is infinite. */
typedef struct {
  int kind;
  double a, b, above, below;
} range;

/* How far from `from` the integrand reaches in an infinite range: beyond, it is 0 because it has underflowed, as x^3 / expm1(x) is for large x,
 * where its derivative is inf / inf. One that ends elsewhere, by a jump or with a slope, has no such end: infinity. */
enum { POWERS = 64, HALVINGS = 60 };
double ffgrad_gsl_reach(callback *function, void *params, double from, int sign) {
  double inside = 0, outside = 0;
  for (int k = 0; k < POWERS; k++) {
    double far = ldexp(1.0, k);
    if (function(from + sign * far, params) != 0) {
      inside = far;
      outside = 0;
    } else if (outside == 0) {
      outside = far;
    }
  }
  if (inside == 0 || outside == 0) return INFINITY;
  for (int i = 0; i < HALVINGS; i++) {
    double middle = 0.5 * (inside + outside);
    if (function(from + sign * middle, params) != 0) inside = middle;
    else outside = middle;
  }
  return fabs(function(from + sign * inside, params)) < 1e-250 ? inside : INFINITY;
}
double ffgrad_gsl_reach_fwd(callback *function, callback *unused, void *params, void *dparams, double from, double dfrom,
                            int sign, double *dy) {
  *dy = 0;
  return ffgrad_gsl_reach(function, params, from, sign);
}
void ffgrad_gsl_reach_rev(callback *function, callback *unused, void *params, void *dparams, double from, double *dfrom,
                          int sign, double dy) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_reach, ffgrad_gsl_reach_fwd, ffgrad_gsl_reach_rev);

/* The integrand as a function of the fraction, with the derivative of the place by the fraction. */
static inline double integrand(const range *over, callback *function, void *params, double t) {
  double a = over->a, b = over->b;
  if (over->kind < QAGI) return (b - a) * function(a + (b - a) * t, params);
  double x = (1 - t) / t, sum = 0;
  if (over->kind != QAGIL && !(x > over->above)) sum += function(a + x, params);
  if (over->kind != QAGIU && !(x > over->below)) sum += function(a - x, params);
  return sum / (t * t);
}

static inline double kronrod(const range *over, callback *function, void *params, double low, double high) {
  static const double node[11] = {0.995657163025808080735527280689003, 0.973906528517171720077964012084452,
                                  0.930157491355708226001207180059508, 0.865063366688984510732096688423493,
                                  0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
                                  0.562757134668604683339000099272694, 0.433395394129247190799265943165784,
                                  0.294392862701460198131126603103866, 0.148874338981631210884826001129720,
                                  0.000000000000000000000000000000000};
  static const double weight[11] = {0.011694638867371874278064396062192, 0.032558162307964727478818972459390,
                                    0.054755896574351996031381300244580, 0.075039674810919952767043140916190,
                                    0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
                                    0.123491976262065851077958109585166, 0.134709217311473325928054001771707,
                                    0.142775938577060080797094273138717, 0.147739104901338491374841515972068,
                                    0.149445554002916905664936468389821};
  double middle = 0.5 * (low + high), half = 0.5 * (high - low), sum = 0;
  for (int i = 0; i < 21; i++) {
    int k = i < 11 ? i : 20 - i;
    double at = middle + (i < 11 ? half : -half) * node[k];
    sum += weight[k] * half * integrand(over, function, params, at);
  }
  return sum;
}

/* Nodes 1/2 + tanh(pi/2 sinh(s))/2 of the subinterval. One that is not told from an end of the range counts nothing. */
static inline double exponential(const range *over, callback *function, void *params, double low, double high) {
  const double step = 1.0 / 16, a = over->a, b = over->b;
  const int kind = over->kind;
  double sum = 0;
  for (int i = -56; i <= 56; i++) {
    double s = step * i, q = exp(-3.14159265358979323846 * sinh(fabs(s))), near = q / (1 + q);
    double weight = step * 3.14159265358979323846 * cosh(s) * q / ((1 + q) * (1 + q));
    double at = s < 0 ? low + (high - low) * near : high - (high - low) * near;
    double place = kind < QAGI ? a + (b - a) * at : at;
    if (at <= 0 || at >= 1 || (kind < QAGI && (place == a || place == b)) || weight < 1e-18) continue;
    sum += weight * (high - low) * integrand(over, function, params, at);
  }
  return sum;
}

static inline int integrate(int kind, const gsl_function *f, double a, double b, double epsabs, double epsrel,
                            size_t limit, int key, double *result, double *abserr, size_t *evaluations) {
  callback *function = f->function;
  void *params = f->params;
  long address = ffgrad_gsl_integrate(kind, function, params, ffgrad_constant(a), ffgrad_constant(b),
                                      ffgrad_constant(epsabs), ffgrad_constant(epsrel), limit, key);
  long count = ffgrad_gsl_found(address, 0);
  int status = (int)ffgrad_gsl_found(address, 1);
  if (evaluations) *evaluations = ffgrad_gsl_found(address, 2);
  double *numbers = malloc((2 * count + 2) * sizeof(double)), sum = 0;
  ffgrad_gsl_copy_found(address, numbers, count);
  ffgrad_gsl_found(address, 3);
  range over = {kind, a, b, INFINITY, INFINITY};
  if (kind == QAGI || kind == QAGIU) over.above = ffgrad_gsl_reach(function, params, ffgrad_constant(a), 1);
  if (kind == QAGI || kind == QAGIL) over.below = ffgrad_gsl_reach(function, params, ffgrad_constant(a), -1);
  int parts = kind == QNG ? 8 : key >= 5 && kind == QAG ? 4 : 2;
  for (long i = 0; i < count; i++) {
    double low = numbers[2 * i + 2], high = numbers[2 * i + 3];
    if ((kind == QAGS || kind >= QAGI) && (low <= 0 || high >= 1)) {
      sum += exponential(&over, function, params, low, high);
    } else {
      for (int k = 0; k < parts; k++) {
        double width = (high - low) / parts;
        sum += kronrod(&over, function, params, low + k * width, low + (k + 1) * width);
      }
    }
  }
  *result = ffgrad_value(numbers[0], sum);
  if (abserr) *abserr = numbers[1];
  free(numbers);
  return status;
}

int ffgrad_gsl_integration_qag(const gsl_function *f, double a, double b, double epsabs, double epsrel, size_t limit,
                               int key, void *space, double *result, double *abserr) {
  return integrate(QAG, f, a, b, epsabs, epsrel, limit, key, result, abserr, NULL);
}
int ffgrad_gsl_integration_qags(const gsl_function *f, double a, double b, double epsabs, double epsrel, size_t limit,
                                void *space, double *result, double *abserr) {
  return integrate(QAGS, f, a, b, epsabs, epsrel, limit, 0, result, abserr, NULL);
}
int ffgrad_gsl_integration_qng(const gsl_function *f, double a, double b, double epsabs, double epsrel, double *result,
                               double *abserr, size_t *evaluations) {
  return integrate(QNG, f, a, b, epsabs, epsrel, 0, 0, result, abserr, evaluations);
}
int ffgrad_gsl_integration_cquad(const gsl_function *f, double a, double b, double epsabs, double epsrel, void *space,
                                 double *result, double *abserr, size_t *evaluations) {
  return integrate(CQUAD, f, a, b, epsabs, epsrel, 1000, *(int *)space, result, abserr, evaluations);
}
int ffgrad_gsl_integration_qagi(gsl_function *f, double epsabs, double epsrel, size_t limit, void *space,
                                double *result, double *abserr) {
  return integrate(QAGI, f, 0, 1, epsabs, epsrel, limit, 0, result, abserr, NULL);
}
int ffgrad_gsl_integration_qagiu(gsl_function *f, double a, double epsabs, double epsrel, size_t limit, void *space,
                                 double *result, double *abserr) {
  return integrate(QAGIU, f, a, 0, epsabs, epsrel, limit, 0, result, abserr, NULL);
}
int ffgrad_gsl_integration_qagil(gsl_function *f, double b, double epsabs, double epsrel, size_t limit, void *space,
                                 double *result, double *abserr) {
  return integrate(QAGIL, f, b, 0, epsabs, epsrel, limit, 0, result, abserr, NULL);
}
/* The caller's workspace is not used: GSL is given one of its own. */
void *ffgrad_gsl_integration_workspace_alloc(size_t n) {
  int *made = malloc(sizeof(int));
  *made = (int)n;
  return made;
}
void ffgrad_gsl_integration_workspace_free(void *space) { free(space); }
void *ffgrad_gsl_integration_cquad_workspace_alloc(size_t n) { return ffgrad_gsl_integration_workspace_alloc(n); }
void ffgrad_gsl_integration_cquad_workspace_free(void *space) { free(space); }

/* Gauss and Legendre's rule: GSL's nodes and weights on [-1, 1], and their sum as code. */
typedef struct {
  size_t n;
  double *node, *weight;
} table;
void ffgrad_gsl_nodes(size_t n, double *node, double *weight) {
  uintptr_t own = gsl_integration_glfixed_table_alloc(n);
  for (size_t i = 0; i < n; i++) gsl_integration_glfixed_point(-1, 1, i, node + i, weight + i, own);
  gsl_integration_glfixed_table_free(own);
}
void ffgrad_gsl_nodes_fwd(size_t n, double *node, double *dnode, double *weight, double *dweight) {
  ffgrad_gsl_nodes(n, node, weight);
  if (dnode) memset(dnode, 0, n * sizeof(double));
  if (dweight) memset(dweight, 0, n * sizeof(double));
}
void ffgrad_gsl_nodes_rev(size_t n, double *node, double *dnode, double *weight, double *dweight) {
  if (dnode) memset(dnode, 0, n * sizeof(double));
  if (dweight) memset(dweight, 0, n * sizeof(double));
}
FFGRAD_DERIVATIVES(ffgrad_gsl_nodes, ffgrad_gsl_nodes_fwd, ffgrad_gsl_nodes_rev);
void *ffgrad_gsl_integration_glfixed_table_alloc(size_t n) {
  table *made = malloc(sizeof(table));
  made->n = n;
  made->node = malloc(n * sizeof(double));
  made->weight = malloc(n * sizeof(double));
  ffgrad_gsl_nodes(n, made->node, made->weight);
  return made;
}
void ffgrad_gsl_integration_glfixed_table_free(void *given) {
  table *t = given;
  free(t->node);
  free(t->weight);
  free(t);
}
double ffgrad_gsl_integration_glfixed(const gsl_function *f, double a, double b, const void *given) {
  const table *t = given;
  double middle = 0.5 * (a + b), half = 0.5 * (b - a), sum = 0;
  for (size_t i = 0; i < t->n; i++) sum += t->weight[i] * f->function(middle + half * t->node[i], f->params);
  return half * sum;
}

/* Calls GSL for a range with known points; the ends of a subinterval between the points k and k + 1 are k plus their fractions of that. */
long ffgrad_gsl_between(callback *function, void *params, const double *points, size_t count, double epsabs, double epsrel, size_t limit) {
  gsl_function f = {function, params};
  found now = {0, 0, 0, 0, 0};
  uintptr_t space = gsl_integration_workspace_alloc(limit);
  const workspace *inside = (const workspace *)space;
  now.status = gsl_integration_qagp(&f, (double *)points, count, epsabs, epsrel, limit, space, &now.value, &now.error);
  now.count = inside->size;
  found *made = malloc(sizeof(found) + (2 * now.count + 2) * sizeof(double));
  *made = now;
  double *edges = fractions(made);
  for (size_t i = 0; i < now.count; i++) {
    double low = inside->alist[i], high = inside->blist[i];
    size_t k = 0;
    while (k + 2 < count && 0.5 * (low + high) > points[k + 1]) k++;
    double width = points[k + 1] - points[k];
    edges[2 * i] = (double)k + (width > 0 ? (low - points[k]) / width : 0);
    edges[2 * i + 1] = (double)k + (width > 0 ? (high - points[k]) / width : 1);
  }
  gsl_integration_workspace_free(space);
  return (long)made;
}
long ffgrad_gsl_between_fwd(callback *function, callback *unused, void *params, void *dparams, const double *points, const double *dpoints,
                            size_t count, double epsabs, double deps, double epsrel, double deps2, size_t limit) {
  return ffgrad_gsl_between(function, params, points, count, epsabs, epsrel, limit);
}
void ffgrad_gsl_between_rev(callback *function, callback *unused, void *params, void *dparams, const double *points, double *dpoints,
                            size_t count, double epsabs, double *deps, double epsrel, double *deps2, size_t limit) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_between, ffgrad_gsl_between_fwd, ffgrad_gsl_between_rev);
int ffgrad_gsl_integration_qagp(const gsl_function *f, double *points, size_t count, double epsabs, double epsrel, size_t limit,
                                void *space, double *result, double *abserr) {
  callback *function = f->function;
  void *params = f->params;
  long address = ffgrad_gsl_between(function, params, points, count, ffgrad_constant(epsabs), ffgrad_constant(epsrel), limit);
  long parts = ffgrad_gsl_found(address, 0);
  int status = (int)ffgrad_gsl_found(address, 1);
  double *numbers = malloc((2 * parts + 2) * sizeof(double)), sum = 0;
  ffgrad_gsl_copy_found(address, numbers, parts);
  ffgrad_gsl_found(address, 3);
  for (long i = 0; i < parts; i++) {
    double first = floor(numbers[2 * i + 2]), low = numbers[2 * i + 2] - first, high = numbers[2 * i + 3] - first;
    size_t k = (size_t)first;
    range over = {QAGS, points[k], points[k + 1], INFINITY, INFINITY};
    if (low <= 0 || high >= 1) {
      sum += exponential(&over, function, params, low, high);
    } else {
      double middle = 0.5 * (low + high);
      sum += kronrod(&over, function, params, low, middle) + kronrod(&over, function, params, middle, high);
    }
  }
  *result = ffgrad_value(numbers[0], sum);
  if (abserr) *abserr = numbers[1];
  free(numbers);
  return status;
}

/* One rule of Gauss and Kronrod: GSL's numbers, with the derivative of the sum over its nodes. */
static void apply(size_t points, const gsl_function *f, double a, double b, double *result, double *abserr, double *resabs, double *resasc) {
  if (points == 15) gsl_integration_qk15(f, a, b, result, abserr, resabs, resasc);
  if (points == 21) gsl_integration_qk21(f, a, b, result, abserr, resabs, resasc);
  if (points == 31) gsl_integration_qk31(f, a, b, result, abserr, resabs, resasc);
  if (points == 41) gsl_integration_qk41(f, a, b, result, abserr, resabs, resasc);
  if (points == 51) gsl_integration_qk51(f, a, b, result, abserr, resabs, resasc);
  if (points == 61) gsl_integration_qk61(f, a, b, result, abserr, resabs, resasc);
}
/* Notes where a rule evaluates, or is 1 at one of these places and 0 at the others, which gives its weight. */
typedef struct {
  size_t count, chosen;
  double *node;
} probe;
static double probed(double x, void *given) {
  probe *p = given;
  size_t i = p->count++;
  if (p->node) p->node[i] = x;
  return i == p->chosen;
}
void ffgrad_gsl_kronrod(size_t points, double *node, double *weight) {
  double unused[3];
  for (size_t i = 0; i < points; i++) {
    probe asked = {0, i, node};
    gsl_function f = {probed, &asked};
    apply(points, &f, -1, 1, weight + i, unused, unused + 1, unused + 2);
  }
}
void ffgrad_gsl_kronrod_fwd(size_t points, double *node, double *dnode, double *weight, double *dweight) {
  ffgrad_gsl_kronrod(points, node, weight);
  if (dnode) memset(dnode, 0, points * sizeof(double));
  if (dweight) memset(dweight, 0, points * sizeof(double));
}
void ffgrad_gsl_kronrod_rev(size_t points, double *node, double *dnode, double *weight, double *dweight) {
  if (dnode) memset(dnode, 0, points * sizeof(double));
  if (dweight) memset(dweight, 0, points * sizeof(double));
}
FFGRAD_DERIVATIVES(ffgrad_gsl_kronrod, ffgrad_gsl_kronrod_fwd, ffgrad_gsl_kronrod_rev);
void ffgrad_gsl_applied(size_t points, callback *function, void *params, double a, double b, double *out) {
  gsl_function f = {function, params};
  apply(points, &f, a, b, out, out + 1, out + 2, out + 3);
}
void ffgrad_gsl_applied_fwd(size_t points, callback *function, callback *unused, void *params, void *dparams, double a, double da, double b,
                            double db, double *out, double *dout) {
  ffgrad_gsl_applied(points, function, params, a, b, out);
  if (dout) memset(dout, 0, 4 * sizeof(double));
}
void ffgrad_gsl_applied_rev(size_t points, callback *function, callback *unused, void *params, void *dparams, double a, double *da,
                            double b, double *db, double *out, double *dout) {
  if (dout) memset(dout, 0, 4 * sizeof(double));
}
FFGRAD_DERIVATIVES(ffgrad_gsl_applied, ffgrad_gsl_applied_fwd, ffgrad_gsl_applied_rev);
static inline void one_rule(size_t points, const gsl_function *f, double a, double b, double *result, double *abserr, double *resabs,
                            double *resasc) {
  double *node = malloc((2 * points + 4) * sizeof(double)), *weight = node + points, *out = weight + points;
  ffgrad_gsl_kronrod(points, node, weight);
  ffgrad_gsl_applied(points, f->function, f->params, ffgrad_constant(a), ffgrad_constant(b), out);
  double middle = 0.5 * (a + b), half = 0.5 * (b - a), sum = 0;
  for (size_t i = 0; i < points; i++) sum += weight[i] * f->function(middle + half * node[i], f->params);
  *result = ffgrad_value(out[0], half * sum);
  *abserr = out[1];
  *resabs = out[2];
  *resasc = out[3];
  free(node);
}
void ffgrad_gsl_integration_qk15(const gsl_function *f, double a, double b, double *result, double *abserr, double *resabs,
                                  double *resasc) {
  one_rule(15, f, a, b, result, abserr, resabs, resasc);
}
void ffgrad_gsl_integration_qk21(const gsl_function *f, double a, double b, double *result, double *abserr, double *resabs,
                                  double *resasc) {
  one_rule(21, f, a, b, result, abserr, resabs, resasc);
}
void ffgrad_gsl_integration_qk31(const gsl_function *f, double a, double b, double *result, double *abserr, double *resabs,
                                  double *resasc) {
  one_rule(31, f, a, b, result, abserr, resabs, resasc);
}
void ffgrad_gsl_integration_qk41(const gsl_function *f, double a, double b, double *result, double *abserr, double *resabs,
                                  double *resasc) {
  one_rule(41, f, a, b, result, abserr, resabs, resasc);
}
void ffgrad_gsl_integration_qk51(const gsl_function *f, double a, double b, double *result, double *abserr, double *resabs,
                                  double *resasc) {
  one_rule(51, f, a, b, result, abserr, resabs, resasc);
}
void ffgrad_gsl_integration_qk61(const gsl_function *f, double a, double b, double *result, double *abserr, double *resabs,
                                  double *resasc) {
  one_rule(61, f, a, b, result, abserr, resabs, resasc);
}
