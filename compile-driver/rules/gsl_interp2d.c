/* Interpolation of GSL on a grid of two dimensions, as code that Enzyme differentiates. Beyond the grid the outermost cell goes on, which GSL reports
 * as an error where the name has no `extrap`.
 *
 * Source: GSL's reference manual, "2D Interpolation"; Press and others, "Numerical Recipes", section 3.6, for bicubic patches, whose slopes are those
 * of natural cubic splines along the lines of the grid.
 */
#include <ffgrad/derivatives.h>
#include <stdlib.h>

FFGRAD_REPLACES(gsl_interp2d_alloc, ffgrad_gsl_interp2d_alloc)
FFGRAD_REPLACES(gsl_interp2d_bicubic, ffgrad_gsl_interp2d_bicubic)
FFGRAD_REPLACES(gsl_interp2d_bilinear, ffgrad_gsl_interp2d_bilinear)
FFGRAD_REPLACES(gsl_interp2d_eval, ffgrad_gsl_interp2d_eval)
FFGRAD_REPLACES(gsl_interp2d_eval_deriv_x, ffgrad_gsl_interp2d_eval_deriv_x)
FFGRAD_REPLACES(gsl_interp2d_eval_deriv_y, ffgrad_gsl_interp2d_eval_deriv_y)
FFGRAD_REPLACES(gsl_interp2d_eval_extrap, ffgrad_gsl_interp2d_eval_extrap)
FFGRAD_REPLACES(gsl_interp2d_free, ffgrad_gsl_interp2d_free)
FFGRAD_REPLACES(gsl_interp2d_get, ffgrad_gsl_interp2d_get)
FFGRAD_REPLACES(gsl_interp2d_init, ffgrad_gsl_interp2d_init)
FFGRAD_REPLACES(gsl_interp2d_set, ffgrad_gsl_interp2d_set)
FFGRAD_REPLACES(gsl_spline2d_alloc, ffgrad_gsl_spline2d_alloc)
FFGRAD_REPLACES(gsl_spline2d_eval, ffgrad_gsl_spline2d_eval)
FFGRAD_REPLACES(gsl_spline2d_eval_deriv_x, ffgrad_gsl_spline2d_eval_deriv_x)
FFGRAD_REPLACES(gsl_spline2d_eval_deriv_xx, ffgrad_gsl_spline2d_eval_deriv_xx)
FFGRAD_REPLACES(gsl_spline2d_eval_deriv_xy, ffgrad_gsl_spline2d_eval_deriv_xy)
FFGRAD_REPLACES(gsl_spline2d_eval_deriv_y, ffgrad_gsl_spline2d_eval_deriv_y)
FFGRAD_REPLACES(gsl_spline2d_eval_deriv_yy, ffgrad_gsl_spline2d_eval_deriv_yy)
FFGRAD_REPLACES(gsl_spline2d_eval_e, ffgrad_gsl_spline2d_eval_e)
FFGRAD_REPLACES(gsl_spline2d_eval_extrap, ffgrad_gsl_spline2d_eval_extrap)
FFGRAD_REPLACES(gsl_spline2d_free, ffgrad_gsl_spline2d_free)
FFGRAD_REPLACES(gsl_spline2d_get, ffgrad_gsl_spline2d_get)
FFGRAD_REPLACES(gsl_spline2d_init, ffgrad_gsl_spline2d_init)
FFGRAD_REPLACES(gsl_spline2d_set, ffgrad_gsl_spline2d_set)

#define G(name) ffgrad_gsl_##name
#define EACH(i, n) for (size_t i = 0; i < (n); i++)

/* GSL's kinds are variables that point to constants, of which programs read the first two members. So are ours. */
typedef struct {
  const char *name;
  unsigned min_size;
  void *functions[9];
  int cubic;
} type;
static const type type_bilinear = {"bilinear", 2, {0}, 0}, type_bicubic = {"bicubic", 4, {0}, 1};
const type *const ffgrad_gsl_interp2d_bilinear = &type_bilinear;
const type *const ffgrad_gsl_interp2d_bicubic = &type_bicubic;

/* Slopes at the points of the grid along x, along y and of these along x; z[j * nx + i] is at x[i], y[j]. */
typedef struct {
  int cubic;
  size_t nx, ny;
  double *zx, *zy, *zxy;
} interp2d;
typedef struct {
  interp2d *interp;
  double *x, *y, *z;
} spline2d;

interp2d *G(interp2d_alloc)(const type *kind, size_t nx, size_t ny) {
  interp2d *made = malloc(sizeof(interp2d));
  made->cubic = kind->cubic;
  made->nx = nx;
  made->ny = ny;
  made->zx = malloc(nx * ny * sizeof(double));
  made->zy = malloc(nx * ny * sizeof(double));
  made->zxy = malloc(nx * ny * sizeof(double));
  return made;
}
void G(interp2d_free)(interp2d *given) {
  if (!given) return;
  free(given->zx);
  free(given->zy);
  free(given->zxy);
  free(given);
}
/* The slopes of a natural cubic spline at its points. Half of its curvature there, c, solves a tridiagonal system. */
static void slopes(size_t n, const double *x, const double *y, size_t step, double *to) {
  double *c = malloc(n * sizeof(double)), *above = malloc(n * sizeof(double));
  c[0] = above[0] = 0;
  for (size_t i = 1; i + 1 < n; i++) {
    double before = x[i] - x[i - 1], after = x[i + 1] - x[i];
    double right = 3 * ((y[(i + 1) * step] - y[i * step]) / after - (y[i * step] - y[(i - 1) * step]) / before);
    double pivot = 2 * (before + after) - before * above[i - 1];
    above[i] = after / pivot;
    c[i] = (right - before * c[i - 1]) / pivot;
  }
  c[n - 1] = 0;
  EACH(r, n - 1) {
    size_t i = n - 2 - r;
    if (i > 0) c[i] -= above[i] * c[i + 1];
  }
  EACH(i, n - 1) {
    double h = x[i + 1] - x[i], rise = (y[(i + 1) * step] - y[i * step]) / h;
    to[i * step] = rise - h * (2 * c[i] + c[i + 1]) / 3;
    if (i + 2 == n) to[(i + 1) * step] = rise + h * (c[i] + 2 * c[i + 1]) / 3;
  }
  free(c);
  free(above);
}
int G(interp2d_init)(interp2d *g, const double *x, const double *y, const double *z, size_t nx, size_t ny) {
  if (!g->cubic) return 0;
  EACH(j, ny) slopes(nx, x, z + j * nx, 1, g->zx + j * nx);
  EACH(i, nx) slopes(ny, y, z + i, nx, g->zy + i);
  EACH(j, ny) slopes(nx, x, g->zy + j * nx, 1, g->zxy + j * nx);
  return 0;
}
static inline size_t cell(const double *x, size_t n, double at) {
  size_t low = 0, high = n - 1;
  while (high > low + 1) {
    size_t middle = low + (high - low) / 2;
    if (x[middle] > at) high = middle;
    else low = middle;
  }
  return low;
}
/* What the two values and the two slopes at the ends of an interval of length h count at a fraction t of it, or in a derivative there. */
static inline void hermite(double t, double h, int order, double *weight) {
  if (order == 0) {
    weight[0] = (1 + 2 * t) * (1 - t) * (1 - t);
    weight[2] = h * t * (1 - t) * (1 - t);
    weight[3] = h * t * t * (t - 1);
    weight[1] = 1 - weight[0];
  } else if (order == 1) {
    weight[0] = 6 * t * (t - 1) / h;
    weight[1] = -weight[0];
    weight[2] = (1 - t) * (1 - 3 * t);
    weight[3] = t * (3 * t - 2);
  } else {
    weight[0] = (12 * t - 6) / (h * h);
    weight[1] = -weight[0];
    weight[2] = (6 * t - 4) / h;
    weight[3] = (6 * t - 2) / h;
  }
}
static inline void linear(double t, double h, int order, double *weight) {
  weight[0] = order == 0 ? 1 - t : order == 1 ? -1 / h : 0;
  weight[1] = order == 0 ? t : order == 1 ? 1 / h : 0;
}
static double at(const interp2d *g, const double *x, const double *y, const double *z, double p, double q, int dx, int dy) {
  size_t i = cell(x, g->nx, p), j = cell(y, g->ny, q), low = j * g->nx + i, high = low + g->nx;
  double h = x[i + 1] - x[i], k = y[j + 1] - y[j], a[4], b[4], sum = 0;
  if (!g->cubic) {
    linear((p - x[i]) / h, h, dx, a);
    linear((q - y[j]) / k, k, dy, b);
    return b[0] * (a[0] * z[low] + a[1] * z[low + 1]) + b[1] * (a[0] * z[high] + a[1] * z[high + 1]);
  }
  hermite((p - x[i]) / h, h, dx, a);
  hermite((q - y[j]) / k, k, dy, b);
  EACH(m, 2) {
    size_t row = m ? high : low;
    EACH(l, 2) {
      sum += b[m] * (a[l] * z[row + l] + a[2 + l] * g->zx[row + l]);
      sum += b[2 + m] * (a[l] * g->zy[row + l] + a[2 + l] * g->zxy[row + l]);
    }
  }
  return sum;
}
#define OF_ARRAYS const interp2d *g, const double *x, const double *y, const double *z, double p, double q, void *xa, void *ya
double G(interp2d_eval)(OF_ARRAYS) { return at(g, x, y, z, p, q, 0, 0); }
double G(interp2d_eval_extrap)(OF_ARRAYS) { return at(g, x, y, z, p, q, 0, 0); }
double G(interp2d_eval_deriv_x)(OF_ARRAYS) { return at(g, x, y, z, p, q, 1, 0); }
double G(interp2d_eval_deriv_y)(OF_ARRAYS) { return at(g, x, y, z, p, q, 0, 1); }
int G(interp2d_set)(const interp2d *g, double *z, size_t i, size_t j, double value) {
  z[j * g->nx + i] = value;
  return 0;
}
double G(interp2d_get)(const interp2d *g, const double *z, size_t i, size_t j) { return z[j * g->nx + i]; }

spline2d *G(spline2d_alloc)(const type *kind, size_t nx, size_t ny) {
  spline2d *made = malloc(sizeof(spline2d));
  made->interp = G(interp2d_alloc)(kind, nx, ny);
  made->x = malloc(nx * sizeof(double));
  made->y = malloc(ny * sizeof(double));
  made->z = malloc(nx * ny * sizeof(double));
  return made;
}
void G(spline2d_free)(spline2d *s) {
  if (!s) return;
  G(interp2d_free)(s->interp);
  free(s->x);
  free(s->y);
  free(s->z);
  free(s);
}
int G(spline2d_init)(spline2d *s, const double *x, const double *y, const double *z, size_t nx, size_t ny) {
  EACH(i, nx) s->x[i] = x[i];
  EACH(j, ny) s->y[j] = y[j];
  EACH(i, nx * ny) s->z[i] = z[i];
  return G(interp2d_init)(s->interp, s->x, s->y, s->z, nx, ny);
}
int G(spline2d_set)(const spline2d *s, double *z, size_t i, size_t j, double value) { return G(interp2d_set)(s->interp, z, i, j, value); }
double G(spline2d_get)(const spline2d *s, const double *z, size_t i, size_t j) { return z[j * s->interp->nx + i]; }
static inline double of_spline(const spline2d *s, double p, double q, int dx, int dy) { return at(s->interp, s->x, s->y, s->z, p, q, dx, dy); }
double G(spline2d_eval)(const spline2d *s, double p, double q, void *xa, void *ya) { return of_spline(s, p, q, 0, 0); }
double G(spline2d_eval_extrap)(const spline2d *s, double p, double q, void *xa, void *ya) { return of_spline(s, p, q, 0, 0); }
double G(spline2d_eval_deriv_x)(const spline2d *s, double p, double q, void *xa, void *ya) { return of_spline(s, p, q, 1, 0); }
double G(spline2d_eval_deriv_y)(const spline2d *s, double p, double q, void *xa, void *ya) { return of_spline(s, p, q, 0, 1); }
double G(spline2d_eval_deriv_xx)(const spline2d *s, double p, double q, void *xa, void *ya) { return of_spline(s, p, q, 2, 0); }
double G(spline2d_eval_deriv_yy)(const spline2d *s, double p, double q, void *xa, void *ya) { return of_spline(s, p, q, 0, 2); }
double G(spline2d_eval_deriv_xy)(const spline2d *s, double p, double q, void *xa, void *ya) { return of_spline(s, p, q, 1, 1); }
int G(spline2d_eval_e)(const spline2d *s, double p, double q, void *xa, void *ya, double *result) {
  *result = of_spline(s, p, q, 0, 0);
  return 0;
}
