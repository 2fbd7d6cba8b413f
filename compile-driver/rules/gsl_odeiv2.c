/* Ordinary differential equations by GSL (odeiv2). GSL chooses the steps and computes the values; the derivative is that of the
 * same Runge-Kutta formula over the steps that GSL has accepted, whose lengths are constants. The implicit and the multistep
 * methods have the derivative of the formula of eighth order over parts of each step, as many as bring it to GSL's
 * values; where no number of parts does, as with stiff equations, it is not-a-number.
 *
 * Source: GSL's reference manual for names and arguments; Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations
 * I" (1993), for the formulas of Kutta, Fehlberg, Cash and Karp, and Prince and Dormand.
 */
#include <ffgrad/derivatives.h>
#include <ffgrad/rules/values.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_NEEDS(values.c)
FFGRAD_REPLACES(gsl_odeiv2_control_free, ffgrad_gsl_odeiv2_control_free)
FFGRAD_REPLACES(gsl_odeiv2_control_standard_new, ffgrad_gsl_odeiv2_control_standard_new)
FFGRAD_REPLACES(gsl_odeiv2_control_y_new, ffgrad_gsl_odeiv2_control_y_new)
FFGRAD_REPLACES(gsl_odeiv2_control_yp_new, ffgrad_gsl_odeiv2_control_yp_new)
FFGRAD_REPLACES(gsl_odeiv2_driver_alloc_standard_new, ffgrad_gsl_odeiv2_driver_alloc_standard_new)
FFGRAD_REPLACES(gsl_odeiv2_driver_alloc_y_new, ffgrad_gsl_odeiv2_driver_alloc_y_new)
FFGRAD_REPLACES(gsl_odeiv2_driver_alloc_yp_new, ffgrad_gsl_odeiv2_driver_alloc_yp_new)
FFGRAD_REPLACES(gsl_odeiv2_driver_apply, ffgrad_gsl_odeiv2_driver_apply)
FFGRAD_REPLACES(gsl_odeiv2_driver_apply_fixed_step, ffgrad_gsl_odeiv2_driver_apply_fixed_step)
FFGRAD_REPLACES(gsl_odeiv2_driver_free, ffgrad_gsl_odeiv2_driver_free)
FFGRAD_REPLACES(gsl_odeiv2_driver_reset, ffgrad_gsl_odeiv2_driver_reset)
FFGRAD_REPLACES(gsl_odeiv2_driver_reset_hstart, ffgrad_gsl_odeiv2_driver_reset_hstart)
FFGRAD_REPLACES(gsl_odeiv2_driver_set_hmax, ffgrad_gsl_odeiv2_driver_set_hmax)
FFGRAD_REPLACES(gsl_odeiv2_driver_set_hmin, ffgrad_gsl_odeiv2_driver_set_hmin)
FFGRAD_REPLACES(gsl_odeiv2_driver_set_nmax, ffgrad_gsl_odeiv2_driver_set_nmax)
FFGRAD_REPLACES(gsl_odeiv2_evolve_alloc, ffgrad_gsl_odeiv2_evolve_alloc)
FFGRAD_REPLACES(gsl_odeiv2_evolve_apply, ffgrad_gsl_odeiv2_evolve_apply)
FFGRAD_REPLACES(gsl_odeiv2_evolve_apply_fixed_step, ffgrad_gsl_odeiv2_evolve_apply_fixed_step)
FFGRAD_REPLACES(gsl_odeiv2_evolve_free, ffgrad_gsl_odeiv2_evolve_free)
FFGRAD_REPLACES(gsl_odeiv2_evolve_reset, ffgrad_gsl_odeiv2_evolve_reset)
FFGRAD_REPLACES(gsl_odeiv2_step_alloc, ffgrad_gsl_odeiv2_step_alloc)
FFGRAD_REPLACES(gsl_odeiv2_step_free, ffgrad_gsl_odeiv2_step_free)
FFGRAD_REPLACES(gsl_odeiv2_step_reset, ffgrad_gsl_odeiv2_step_reset)

typedef int slope(double, const double *, double *, void *);
typedef int jacobian(double, const double *, double *, double *, void *);
typedef struct {
  slope *function;
  jacobian *jacobian;
  size_t dimension;
  void *params;
} ode;

/* GSL's own: objects are integers here and other pointers marked, because nothing of ours is kept in them. */
#define KEPT_NOWHERE __attribute__((noescape))
#define SYSTEM const ode *KEPT_NOWHERE
extern long gsl_odeiv2_step_alloc(long, size_t);
extern int gsl_odeiv2_step_reset(long);
extern void gsl_odeiv2_step_free(long);
extern long gsl_odeiv2_control_standard_new(double, double, double, double);
extern void gsl_odeiv2_control_free(long);
extern long gsl_odeiv2_evolve_alloc(size_t);
extern int gsl_odeiv2_evolve_reset(long);
extern void gsl_odeiv2_evolve_free(long);
extern int gsl_odeiv2_evolve_apply(long, long, long, SYSTEM, double *KEPT_NOWHERE, double, double *KEPT_NOWHERE,
                                   double *KEPT_NOWHERE);
extern int gsl_odeiv2_evolve_apply_fixed_step(long, long, long, SYSTEM, double *KEPT_NOWHERE, double, double *KEPT_NOWHERE);
extern long gsl_odeiv2_driver_alloc_standard_new(SYSTEM, long, double, double, double, double, double);
extern void gsl_odeiv2_driver_free(long);
extern int gsl_odeiv2_driver_reset(long);

/* A driver of GSL's with a system that it may look at. */
typedef struct {
  ode system;
  long driver;
} driven;
/* The first members of GSL's driver, its evolution, and of a type of steps. */
typedef struct {
  const void *sys;
  long step, control, evolve;
} driver_parts;
typedef struct {
  const char *name;
} step_type;
typedef struct {
  size_t dimension;
  double *y0, *yerr, *dydt_in, *dydt_out;
  double last_step;
  unsigned long count, failed_steps;
} evolution;

enum { STEP, CONTROL, EVOLVE, DRIVER };

/* Makes an object of GSL's; Enzyme sees no inside of it. */
long ffgrad_gsl_ode_make(int what, long type, size_t dimension, double start, double epsabs, double epsrel, double a_y,
                         double a_dydt) {
  if (what == STEP) return gsl_odeiv2_step_alloc(type, dimension);
  if (what == CONTROL) return gsl_odeiv2_control_standard_new(epsabs, epsrel, a_y, a_dydt);
  if (what == EVOLVE) return gsl_odeiv2_evolve_alloc(dimension);
  driven *made = malloc(sizeof(driven));
  made->system = (ode){NULL, NULL, dimension, NULL};
  made->driver = gsl_odeiv2_driver_alloc_standard_new(&made->system, type, start, epsabs, epsrel, a_y, a_dydt);
  return (long)made;
}
long ffgrad_gsl_ode_make_fwd(int what, long type, size_t dimension, double start, double d1, double epsabs, double d2,
                             double epsrel, double d3, double a_y, double d4, double a_dydt, double d5) {
  return ffgrad_gsl_ode_make(what, type, dimension, start, epsabs, epsrel, a_y, a_dydt);
}
void ffgrad_gsl_ode_make_rev(int what, long type, size_t dimension, double start, double *d1, double epsabs, double *d2,
                             double epsrel, double *d3, double a_y, double *d4, double a_dydt, double *d5) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_ode_make, ffgrad_gsl_ode_make_fwd, ffgrad_gsl_ode_make_rev);

enum { FREE, RESET, PART_STEP, PART_CONTROL, PART_EVOLVE, KIND, COUNT, FAILED };
enum { RK2, RK4, RKF45, RKCK, RK8PD, OTHER };

/* Frees or resets an object, or says a part of a driver, the kind of a type of steps, or the counts of an evolution. */
long ffgrad_gsl_ode_do(int action, int what, long object) {
  static const char *names[] = {"rk2", "rk4", "rkf45", "rkck", "rk8pd"};
  if (action == KIND) {
    for (int i = 0; i < OTHER; i++)
      if (!strcmp(((const step_type *)object)->name, names[i])) return i;
    return OTHER;
  }
  if (action == COUNT) return (long)((const evolution *)object)->count;
  if (action == FAILED) return (long)((const evolution *)object)->failed_steps;
  if (what == DRIVER) {
    driven *d = (driven *)object;
    const driver_parts *parts = (const driver_parts *)d->driver;
    if (action == PART_STEP) return parts->step;
    if (action == PART_CONTROL) return parts->control;
    if (action == PART_EVOLVE) return parts->evolve;
    if (action == RESET) return gsl_odeiv2_driver_reset(d->driver);
    gsl_odeiv2_driver_free(d->driver);
    free(d);
    return 0;
  }
  if (action == RESET) return what == STEP ? gsl_odeiv2_step_reset(object) : gsl_odeiv2_evolve_reset(object);
  if (what == STEP) gsl_odeiv2_step_free(object);
  if (what == CONTROL) gsl_odeiv2_control_free(object);
  if (what == EVOLVE) gsl_odeiv2_evolve_free(object);
  return 0;
}
long ffgrad_gsl_ode_do_fwd(int action, int what, long object) { return ffgrad_gsl_ode_do(action, what, object); }
void ffgrad_gsl_ode_do_rev(int action, int what, long object) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_ode_do, ffgrad_gsl_ode_do_fwd, ffgrad_gsl_ode_do_rev);

/* One step of GSL's from `t` towards `t1`, or of length `h` where `fixed`. Writes the new time, the next length and the state. The
 * Jacobian is an integer: it needs no derivative. */
int ffgrad_gsl_ode_advance(int fixed, long e, long c, long s, slope *function, long jac, void *params, size_t dimension,
                           double t, double t1, double h, const double *y, double *out) {
  ode system = {function, (jacobian *)jac, dimension, params};
  memcpy(out + 2, y, dimension * sizeof(double));
  out[0] = t;
  out[1] = h;
  return fixed ? gsl_odeiv2_evolve_apply_fixed_step(e, c, s, &system, out, h, out + 2)
               : gsl_odeiv2_evolve_apply(e, c, s, &system, out, t1, out + 1, out + 2);
}
int ffgrad_gsl_ode_advance_fwd(int fixed, long e, long c, long s, slope *function, slope *unused, long jac, void *params, void *dparams, size_t dimension, double t, double dt, double t1,
                               double dt1, double h, double dh, const double *y, const double *dy, double *out,
                               double *dout) {
  if (dout) memset(dout, 0, (dimension + 2) * sizeof(double));
  return ffgrad_gsl_ode_advance(fixed, e, c, s, function, jac, params, dimension, t, t1, h, y, out);
}
void ffgrad_gsl_ode_advance_rev(int fixed, long e, long c, long s, slope *function, slope *unused, long jac, void *params, void *dparams, size_t dimension, double t, double *dt,
                                double t1, double *dt1, double h, double *dh, const double *y, double *dy, double *out,
                                double *dout) {
  if (dout) memset(dout, 0, (dimension + 2) * sizeof(double));
}
FFGRAD_DERIVATIVES(ffgrad_gsl_ode_advance, ffgrad_gsl_ode_advance_fwd, ffgrad_gsl_ode_advance_rev);

/* An explicit formula: stages, places, the rows of the matrix one after another, weights. */
typedef struct {
  int stages;
  const double *c, *a, *b;
} formula;

static inline formula formula_of(int kind) {
  static const double c2[] = {0, 0.5, 1}, a2[] = {0.5, -1, 2}, b2[] = {1.0 / 6, 4.0 / 6, 1.0 / 6};
  static const double c4[] = {0, 0.5, 0.5, 1}, a4[] = {0.5, 0, 0.5, 0, 0, 1}, b4[] = {1.0 / 6, 2.0 / 6, 2.0 / 6, 1.0 / 6};
  static const double cf[] = {0, 1.0 / 4, 3.0 / 8, 12.0 / 13, 1, 1.0 / 2};
  static const double af[] = {1.0 / 4, 3.0 / 32, 9.0 / 32, 1932.0 / 2197, -7200.0 / 2197, 7296.0 / 2197, 439.0 / 216, -8,
                              3680.0 / 513, -845.0 / 4104, -8.0 / 27, 2, -3544.0 / 2565, 1859.0 / 4104, -11.0 / 40};
  static const double bf[] = {16.0 / 135, 0, 6656.0 / 12825, 28561.0 / 56430, -9.0 / 50, 2.0 / 55};
  static const double ck[] = {0, 1.0 / 5, 3.0 / 10, 3.0 / 5, 1, 7.0 / 8};
  static const double ak[] = {1.0 / 5, 3.0 / 40, 9.0 / 40, 3.0 / 10, -9.0 / 10, 6.0 / 5, -11.0 / 54, 5.0 / 2, -70.0 / 27,
                              35.0 / 27, 1631.0 / 55296, 175.0 / 512, 575.0 / 13824, 44275.0 / 110592, 253.0 / 4096};
  static const double bk[] = {37.0 / 378, 0, 250.0 / 621, 125.0 / 594, 0, 512.0 / 1771};
  static const double c8[] = {0, 1.0 / 18, 1.0 / 12, 1.0 / 8, 5.0 / 16, 3.0 / 8, 59.0 / 400, 93.0 / 200,
                              5490023248.0 / 9719169821.0, 13.0 / 20, 1201146811.0 / 1299019798.0, 1, 1};
  static const double a8[] = {
      1.0 / 18,
      1.0 / 48, 1.0 / 16,
      1.0 / 32, 0, 3.0 / 32,
      5.0 / 16, 0, -75.0 / 64, 75.0 / 64,
      3.0 / 80, 0, 0, 3.0 / 16, 3.0 / 20,
      29443841.0 / 614563906.0, 0, 0, 77736538.0 / 692538347.0, -28693883.0 / 1125000000.0, 23124283.0 / 1800000000.0,
      16016141.0 / 946692911.0, 0, 0, 61564180.0 / 158732637.0, 22789713.0 / 633445777.0, 545815736.0 / 2771057229.0,
      -180193667.0 / 1043307555.0,
      39632708.0 / 573591083.0, 0, 0, -433636366.0 / 683701615.0, -421739975.0 / 2616292301.0, 100302831.0 / 723423059.0,
      790204164.0 / 839813087.0, 800635310.0 / 3783071287.0,
      246121993.0 / 1340847787.0, 0, 0, -37695042795.0 / 15268766246.0, -309121744.0 / 1061227803.0,
      -12992083.0 / 490766935.0, 6005943493.0 / 2108947869.0, 393006217.0 / 1396673457.0, 123872331.0 / 1001029789.0,
      -1028468189.0 / 846180014.0, 0, 0, 8478235783.0 / 508512852.0, 1311729495.0 / 1432422823.0,
      -10304129995.0 / 1701304382.0, -48777925059.0 / 3047939560.0, 15336726248.0 / 1032824649.0,
      -45442868181.0 / 3398467696.0, 3065993473.0 / 597172653.0,
      185892177.0 / 718116043.0, 0, 0, -3185094517.0 / 667107341.0, -477755414.0 / 1098053517.0, -703635378.0 / 230739211.0,
      5731566787.0 / 1027545527.0, 5232866602.0 / 850066563.0, -4093664535.0 / 808688257.0, 3962137247.0 / 1805957418.0,
      65686358.0 / 487910083.0,
      403863854.0 / 491063109.0, 0, 0, -5068492393.0 / 434740067.0, -411421997.0 / 543043805.0, 652783627.0 / 914296604.0,
      11173962825.0 / 925320556.0, -13158990841.0 / 6184727034.0, 3936647629.0 / 1978049680.0, -160528059.0 / 685178525.0,
      248638103.0 / 1413531060.0, 0};
  static const double b8[] = {14005451.0 / 335480064.0, 0, 0, 0, 0, -59238493.0 / 1068277825.0, 181606767.0 / 758867731.0,
                              561292985.0 / 797845732.0, -1041891430.0 / 1371343529.0, 760417239.0 / 1151165299.0,
                              118820643.0 / 751138087.0, -528747749.0 / 2220607170.0, 1.0 / 4};
  static const formula all[] = {{3, c2, a2, b2}, {4, c4, a4, b4}, {6, cf, af, bf}, {6, ck, ak, bk}, {13, c8, a8, b8}};
  return all[kind < OTHER ? kind : RK8PD];
}

/* One step of a formula, in place; `k` has room for a slope of each stage and one state. */
static inline void runge_kutta(formula f, slope *function, void *params, size_t n, double t, double h, double *y, double *k) {
  double *at = k + (size_t)f.stages * n;
  const double *row = f.a;
  for (int i = 0; i < f.stages; i++) {
    for (size_t j = 0; j < n; j++) {
      double sum = 0;
      for (int m = 0; m < i; m++) sum += row[m] * k[m * n + j];
      at[j] = y[j] + h * sum;
    }
    row += i;
    function(t + f.c[i] * h, at, k + i * n, params);
  }
  for (size_t j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < f.stages; i++) sum += f.b[i] * k[i * n + j];
    y[j] += h * sum;
  }
}

/* Steps in place. GSL's classical formula goes twice over half the length. */
static inline void steps(int kind, long parts, slope *function, void *params, size_t n, double t, double h, double *y) {
  formula f = formula_of(kind);
  double *k = malloc((f.stages + 1) * n * sizeof(double));
  for (long i = 0; i < parts; i++) runge_kutta(f, function, params, n, t + i * (h / parts), h / parts, y, k);
  free(k);
}

/* How many parts of a step bring the formula of eighth order to GSL's values; none where no number does. */
long ffgrad_gsl_ode_parts(slope *function, void *params, size_t n, double t, double h, const double *from, const double *to) {
  enum { MOST = 1024 };
  double *y = malloc(n * sizeof(double));
  long found = 0;
  for (long parts = 1; parts <= MOST && !found; parts *= 2) {
    int near = 1;
    memcpy(y, from, n * sizeof(double));
    steps(RK8PD, parts, function, params, n, t, h, y);
    for (size_t i = 0; i < n; i++) near = near && fabs(y[i] - to[i]) <= 1e-5 * (fabs(to[i]) + fabs(from[i])) + 1e-12;
    if (near) found = parts;
  }
  free(y);
  return found;
}
long ffgrad_gsl_ode_parts_fwd(slope *function, slope *unused, void *params, void *dparams, size_t n, double t, double dt,
                              double h, double dh, const double *from, const double *dfrom, const double *to,
                              const double *dto) {
  return ffgrad_gsl_ode_parts(function, params, n, t, h, from, to);
}
void ffgrad_gsl_ode_parts_rev(slope *function, slope *unused, void *params, void *dparams, size_t n, double t, double *dt,
                              double h, double *dh, const double *from, double *dfrom, const double *to, double *dto) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_ode_parts, ffgrad_gsl_ode_parts_fwd, ffgrad_gsl_ode_parts_rev);

/* GSL's step, with the derivative of ours. The new time has the derivative of `t1` where it is reached. */
static inline int advance(int fixed, int kind, long e, long c, long s, const ode *system, double *t, double t1, double *h,
                          double *y) {
  slope *function = system->function;
  void *params = system->params;
  size_t n = system->dimension;
  double start = ffgrad_constant(*t), end = ffgrad_constant(t1), length = ffgrad_constant(*h);
  double *out = malloc((n + 2) * sizeof(double));
  int status = ffgrad_gsl_ode_advance(fixed, e, c, s, function, (long)system->jacobian, params, n, start, end, length, y, out);
  double reached = ffgrad_constant(out[0]);
  double now = fixed ? *t + *h : reached == end ? t1 : *t + (reached - start);
  if (reached != start) {
    long parts = kind == RK4 ? 2 : 1;
    if (kind == OTHER) parts = ffgrad_gsl_ode_parts(function, params, n, start, reached - start, y, out + 2);
    steps(kind, parts, function, params, n, *t, now - *t, y);
    double known = parts > 0 ? 1 : NAN;
    for (size_t i = 0; i < n; i++) y[i] = ffgrad_value(out[2 + i], known * y[i]);
  }
  *t = ffgrad_value(reached, now);
  if (!fixed) *h = ffgrad_constant(out[1]);
  free(out);
  return status;
}

/* Objects of the caller's. Members that GSL's manual names have their places; the others say what GSL's own object is. */
typedef struct {
  long own;
  size_t dimension;
  long kind;
} step;
typedef struct {
  long own;
} control;
typedef struct {
  evolution seen;
  long own;
} evolve;
typedef struct {
  const ode *sys;
  step *s;
  control *c;
  evolve *e;
  double h, hmin, hmax;
  unsigned long n, nmax;
  long own;
} driver;

/* An object without numbers. They pass through a function: LLVM would make one memset of the zeros, which has no type. */
static inline long make(int what, long type, size_t dimension) {
  double none = ffgrad_constant(0);
  return ffgrad_gsl_ode_make(what, type, dimension, none, none, none, none, none);
}
static inline step *new_step(long own, long type, size_t dimension) {
  step *made = malloc(sizeof(step));
  made->own = own;
  made->dimension = dimension;
  made->kind = ffgrad_gsl_ode_do(KIND, STEP, type);
  return made;
}
static inline control *new_control(long own) {
  control *made = malloc(sizeof(control));
  made->own = own;
  return made;
}
static inline void count_steps(evolve *e) {
  e->seen.count = (unsigned long)ffgrad_gsl_ode_do(COUNT, EVOLVE, e->own);
  e->seen.failed_steps = (unsigned long)ffgrad_gsl_ode_do(FAILED, EVOLVE, e->own);
}
static inline evolve *new_evolve(long own, size_t dimension) {
  evolve *made = malloc(sizeof(evolve));
  evolution *seen = &made->seen;
  seen->dimension = dimension;
  seen->y0 = seen->yerr = seen->dydt_in = seen->dydt_out = malloc(dimension * sizeof(double));
  /* Not all bits are zero: LLVM would make one memset of it and the counts, which has no type. */
  seen->last_step = -0.0;
  made->own = own;
  count_steps(made);
  return made;
}

void *ffgrad_gsl_odeiv2_step_alloc(const void *type, size_t dimension) {
  return new_step(make(STEP, (long)type, dimension), (long)type, dimension);
}
int ffgrad_gsl_odeiv2_step_reset(void *given) { return (int)ffgrad_gsl_ode_do(RESET, STEP, ((step *)given)->own); }
void ffgrad_gsl_odeiv2_step_free(void *given) {
  if (!given) return;
  ffgrad_gsl_ode_do(FREE, STEP, ((step *)given)->own);
  free(given);
}
void *ffgrad_gsl_odeiv2_control_standard_new(double epsabs, double epsrel, double a_y, double a_dydt) {
  return new_control(ffgrad_gsl_ode_make(CONTROL, 0, 0, ffgrad_constant(0), ffgrad_constant(epsabs), ffgrad_constant(epsrel),
                                         ffgrad_constant(a_y), ffgrad_constant(a_dydt)));
}
void *ffgrad_gsl_odeiv2_control_y_new(double epsabs, double epsrel) {
  return ffgrad_gsl_odeiv2_control_standard_new(epsabs, epsrel, 1, 0);
}
void *ffgrad_gsl_odeiv2_control_yp_new(double epsabs, double epsrel) {
  return ffgrad_gsl_odeiv2_control_standard_new(epsabs, epsrel, 0, 1);
}
void ffgrad_gsl_odeiv2_control_free(void *given) {
  if (!given) return;
  ffgrad_gsl_ode_do(FREE, CONTROL, ((control *)given)->own);
  free(given);
}
void *ffgrad_gsl_odeiv2_evolve_alloc(size_t dimension) {
  return new_evolve(make(EVOLVE, 0, dimension), dimension);
}
int ffgrad_gsl_odeiv2_evolve_reset(void *given) {
  int status = (int)ffgrad_gsl_ode_do(RESET, EVOLVE, ((evolve *)given)->own);
  count_steps(given);
  return status;
}
void ffgrad_gsl_odeiv2_evolve_free(void *given) {
  if (!given) return;
  ffgrad_gsl_ode_do(FREE, EVOLVE, ((evolve *)given)->own);
  free(((evolve *)given)->seen.y0);
  free(given);
}
int ffgrad_gsl_odeiv2_evolve_apply(void *given_e, void *given_c, void *given_s, const ode *system, double *t, double t1,
                                   double *h, double *y) {
  evolve *e = given_e;
  step *s = given_s;
  long c = given_c ? ((control *)given_c)->own : 0;
  int status = advance(0, (int)s->kind, e->own, c, s->own, system, t, t1, h, y);
  count_steps(e);
  return status;
}
int ffgrad_gsl_odeiv2_evolve_apply_fixed_step(void *given_e, void *given_c, void *given_s, const ode *system, double *t,
                                              double h, double *y) {
  evolve *e = given_e;
  step *s = given_s;
  long c = given_c ? ((control *)given_c)->own : 0;
  int status = advance(1, (int)s->kind, e->own, c, s->own, system, t, 0, &h, y);
  count_steps(e);
  return status;
}

void *ffgrad_gsl_odeiv2_driver_alloc_standard_new(const ode *system, const void *type, double start, double epsabs,
                                                  double epsrel, double a_y, double a_dydt) {
  size_t n = system->dimension;
  double h = ffgrad_constant(start);
  long own = ffgrad_gsl_ode_make(DRIVER, (long)type, n, h, ffgrad_constant(epsabs), ffgrad_constant(epsrel),
                                 ffgrad_constant(a_y), ffgrad_constant(a_dydt));
  driver *d = malloc(sizeof(driver));
  d->sys = system;
  d->s = new_step(ffgrad_gsl_ode_do(PART_STEP, DRIVER, own), (long)type, n);
  d->c = new_control(ffgrad_gsl_ode_do(PART_CONTROL, DRIVER, own));
  d->e = new_evolve(ffgrad_gsl_ode_do(PART_EVOLVE, DRIVER, own), n);
  d->h = h;
  d->hmin = 0;
  d->hmax = 1.79769313486231571e+308;
  d->n = d->nmax = 0;
  d->own = own;
  return d;
}
void *ffgrad_gsl_odeiv2_driver_alloc_y_new(const ode *system, const void *type, double start, double epsabs, double epsrel) {
  return ffgrad_gsl_odeiv2_driver_alloc_standard_new(system, type, start, epsabs, epsrel, 1, 0);
}
void *ffgrad_gsl_odeiv2_driver_alloc_yp_new(const ode *system, const void *type, double start, double epsabs, double epsrel) {
  return ffgrad_gsl_odeiv2_driver_alloc_standard_new(system, type, start, epsabs, epsrel, 0, 1);
}
int ffgrad_gsl_odeiv2_driver_set_hmin(void *given, double hmin) {
  ((driver *)given)->hmin = fabs(hmin);
  return 0;
}
int ffgrad_gsl_odeiv2_driver_set_hmax(void *given, double hmax) {
  ((driver *)given)->hmax = fabs(hmax);
  return 0;
}
int ffgrad_gsl_odeiv2_driver_set_nmax(void *given, unsigned long nmax) {
  ((driver *)given)->nmax = nmax;
  return 0;
}
int ffgrad_gsl_odeiv2_driver_reset(void *given) { return (int)ffgrad_gsl_ode_do(RESET, DRIVER, ((driver *)given)->own); }
int ffgrad_gsl_odeiv2_driver_reset_hstart(void *given, double start) {
  ((driver *)given)->h = ffgrad_constant(start);
  return ffgrad_gsl_odeiv2_driver_reset(given);
}
void ffgrad_gsl_odeiv2_driver_free(void *given) {
  driver *d = given;
  if (!d) return;
  ffgrad_gsl_ode_do(FREE, DRIVER, d->own);
  free(d->s);
  free(d->c);
  free(d->e->seen.y0);
  free(d->e);
  free(d);
}

/* Codes of GSL's. */
enum { SUCCESS = 0, MANY = 11, SHORT = 27 };

int ffgrad_gsl_odeiv2_driver_apply(void *given, double *t, double t1, double *y) {
  driver *d = given;
  double sign = d->h > 0 ? 1 : -1;
  d->n = 0;
  while (sign * (ffgrad_constant(t1) - ffgrad_constant(*t)) > 0) {
    int status = ffgrad_gsl_odeiv2_evolve_apply(d->e, d->c, d->s, d->sys, t, t1, &d->h, y);
    if (status != SUCCESS) return status;
    if (d->nmax > 0 && d->n > d->nmax) return MANY;
    if (fabs(d->h) > d->hmax) d->h = sign * d->hmax;
    if (fabs(d->h) < d->hmin) return SHORT;
    d->n++;
  }
  return SUCCESS;
}
int ffgrad_gsl_odeiv2_driver_apply_fixed_step(void *given, double *t, double h, unsigned long n, double *y) {
  driver *d = given;
  for (unsigned long i = 0; i < n; i++) {
    int status = ffgrad_gsl_odeiv2_evolve_apply_fixed_step(d->e, d->c, d->s, d->sys, t, h, y);
    if (status != SUCCESS) return status;
  }
  return SUCCESS;
}
