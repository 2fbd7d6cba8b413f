"""Programs that use GSL's methods on functions and tables: splines, integrals, transforms, roots, minima, nonlinear fits, random numbers, as bodies of a C function.

``test_numpy_gsl_programs.py`` compiles and compares them; the macros are those of ``gsl_arrays.START``.
"""

from __future__ import annotations

# For each kind; the ends of periodic ones have one value.
SPLINE = """
double place[7], value[7];
place[0] = 0;
EACH(i, 6) place[i + 1] = place[i] + 0.5 + 0.1 * NEXT;
EACH(i, 7) value[i] = NEXT;
if (KIND == gsl_interp_cspline_periodic || KIND == gsl_interp_akima_periodic) value[6] = value[0];
double p = 0.7 + 0.1 * NEXT, q = 2.1 + 0.1 * NEXT;
gsl_interp_accel* a = gsl_interp_accel_alloc();
gsl_spline* spline = gsl_spline_alloc(KIND, 7);
gsl_spline_init(spline, place, value, 7);
PUT(gsl_spline_eval(spline, p, a));
PUT(gsl_spline_eval(spline, q, NULL) * gsl_spline_eval_deriv(spline, q, a));
PUT(gsl_spline_eval_deriv2(spline, p, a));
PUT(gsl_spline_eval_integ(spline, p, q, a));
PUT(gsl_spline_min_size(spline) + gsl_spline_name(spline)[0] + KIND->min_size);
gsl_spline_free(spline);
gsl_interp_accel_free(a);
"""
# The other names, of one kind.
INTERPOLATION = """
double place[7], value[7], result;
place[0] = 0;
EACH(i, 6) place[i + 1] = place[i] + 0.5 + 0.1 * NEXT;
EACH(i, 7) value[i] = NEXT;
double p = 0.7 + 0.1 * NEXT, q = 2.1 + 0.1 * NEXT;
gsl_interp_accel* a = gsl_interp_accel_alloc();
gsl_spline* spline = gsl_spline_alloc(gsl_interp_akima, 7);
gsl_interp* direct = gsl_interp_alloc(gsl_interp_cspline, 4);
gsl_spline_init(spline, place, value, 7);
gsl_interp_accel_reset(a);
gsl_spline_eval_e(spline, q, a, &result);
PUT(result);
gsl_spline_eval_deriv_e(spline, q, a, &result);
PUT(result);
gsl_spline_eval_deriv2_e(spline, q, a, &result);
PUT(result);
gsl_spline_eval_integ_e(spline, p, p + 0.01, a, &result);
PUT(result);
gsl_interp_init(direct, place, value, 4);
PUT(gsl_interp_eval(direct, place, value, p, a) + gsl_interp_eval_deriv(direct, place, value, p, a));
PUT(gsl_interp_eval_deriv2(direct, place, value, p, a) + gsl_interp_eval_integ(direct, place, value, p, p + 0.2, a));
gsl_interp_eval_e(direct, place, value, p, a, &result);
PUT(result);
gsl_interp_eval_deriv_e(direct, place, value, p, a, &result);
PUT(result);
gsl_interp_eval_deriv2_e(direct, place, value, p, a, &result);
PUT(result);
gsl_interp_eval_integ_e(direct, place, value, p, p + 0.1, a, &result);
PUT(result);
PUT(gsl_interp_bsearch(place, p, 0, 6) + 10 * gsl_interp_accel_find(a, place, 7, q));
PUT(gsl_interp_type_min_size(gsl_interp_steffen) + gsl_interp_min_size(direct) + gsl_interp_name(direct)[1]);
gsl_spline_free(spline);
gsl_interp_free(direct);
gsl_interp_accel_free(a);
"""
KINDS = ["linear", "polynomial", "cspline", "cspline_periodic", "akima", "akima_periodic", "steffen"]
# Integrands and what is done with them.
INTEGRANDS = """
typedef struct {
  double a, b;
} pair;
static double smooth(double t, void* given) {
  pair* p = given;
  return cos(p->a * t) * exp(-0.1 * p->b * t * t);
}
static double decaying(double t, void* given) {
  pair* p = given;
  return (1 + p->a * t) * exp(-(1 + p->b * p->b) * t * t / 2);
}
static double singular(double t, void* given) {
  pair* p = given;
  return cos(p->a * t) * log(t) / sqrt(t) + p->b;
}
static double plane(double* t, size_t n, void* given) {
  pair* p = given;
  return exp(-p->a * t[0]) * cos(p->b * t[1]) + t[0] * t[1];
}
static double kinked(double t, void* given) {
  pair* p = given;
  return exp(-fabs(t - 1) * (2 + p->a)) * p->b;
}
"""
INTEGRATION = """
pair p = {NEXT, NEXT};
double low = NEXT, high = 2 + NEXT, value, error;
size_t count;
gsl_function f = {smooth, &p};
gsl_integration_workspace* space = gsl_integration_workspace_alloc(500);
for (int key = 1; key <= 6; key++) {
  gsl_integration_qag(&f, low, high, 1e-11, 1e-11, 500, key, space, &value, &error);
  PUT(value);
}
gsl_integration_qags(&f, low, high, 1e-11, 1e-11, 500, space, &value, &error);
PUT(value);
gsl_integration_qng(&f, low, high, 1e-9, 1e-9, &value, &error, &count);
PUT(value);
gsl_integration_cquad_workspace* other = gsl_integration_cquad_workspace_alloc(200);
gsl_integration_cquad(&f, low, high, 1e-11, 1e-11, other, &value, &error, &count);
PUT(value);
gsl_integration_cquad(&f, low, high, 1e-11, 1e-11, other, &value, NULL, NULL);
PUT(value);
gsl_integration_cquad_workspace_free(other);
for (int n = 7; n <= 8; n++) {
  gsl_integration_glfixed_table* table = gsl_integration_glfixed_table_alloc(n);
  PUT(gsl_integration_glfixed(&f, low, high, table));
  gsl_integration_glfixed_table_free(table);
}
f.function = decaying;
gsl_integration_qagi(&f, 1e-10, 1e-10, 500, space, &value, &error);
PUT(value);
gsl_integration_qagiu(&f, low, 1e-10, 1e-10, 500, space, &value, &error);
PUT(value);
gsl_integration_qagil(&f, high, 1e-10, 1e-10, 500, space, &value, &error);
PUT(value);
f.function = singular;
gsl_integration_qags(&f, 0, high, 1e-10, 1e-10, 500, space, &value, &error);
PUT(value);
f.function = kinked;
gsl_integration_qag(&f, low, high, 1e-10, 1e-10, 500, GSL_INTEG_GAUSS21, space, &value, &error);
PUT(value);
double points[] = {low, 1 + 0.1 * p.a, high}, size, deviation;
gsl_integration_qagp(&f, points, 3, 1e-10, 1e-10, 500, space, &value, &error);
PUT(value);
f.function = smooth;
gsl_integration_qk15(&f, low, high, &value, &error, &size, &deviation);
PUT(value);
gsl_integration_qk21(&f, low, high, &value, &error, &size, &deviation);
PUT(value);
gsl_integration_qk31(&f, low, high, &value, &error, &size, &deviation);
PUT(value);
gsl_integration_qk41(&f, low, high, &value, &error, &size, &deviation);
PUT(value);
gsl_integration_qk51(&f, low, high, &value, &error, &size, &deviation);
PUT(value);
gsl_integration_qk61(&f, low, high, &value, &error, &size, &deviation);
PUT(value);
gsl_integration_workspace_free(space);
"""
TRANSFORMS = """
double given[12], own[16], full[24];
EACH(i, 12) given[i] = NEXT;
#define AGAIN EACH(i, 16) own[i] = given[i % 12] + i
#define SHOW EACH(i, 16) PUT(own[i])
gsl_fft_complex_wavetable* ct = gsl_fft_complex_wavetable_alloc(6);
gsl_fft_complex_workspace* cw = gsl_fft_complex_workspace_alloc(6);
gsl_fft_real_wavetable* rt = gsl_fft_real_wavetable_alloc(12);
gsl_fft_halfcomplex_wavetable* ht = gsl_fft_halfcomplex_wavetable_alloc(12);
gsl_fft_real_workspace* rw = gsl_fft_real_workspace_alloc(12);
AGAIN;
gsl_fft_complex_forward(own, 1, 6, ct, cw);
SHOW;
EACH(i, 12) own[i] *= own[i];
gsl_fft_complex_inverse(own, 1, 6, ct, cw);
gsl_fft_complex_backward(own, 1, 6, ct, cw);
SHOW;
AGAIN;
gsl_fft_complex_radix2_forward(own, 2, 4);
SHOW;
gsl_fft_complex_radix2_backward(own, 2, 4);
gsl_fft_complex_radix2_inverse(own, 1, 8);
SHOW;
for (int odd = 0; odd < 2; odd++) {
  AGAIN;
  int n = 12 - odd * 5;
  gsl_fft_real_wavetable* t = odd ? gsl_fft_real_wavetable_alloc(n) : rt;
  gsl_fft_halfcomplex_wavetable* h = odd ? gsl_fft_halfcomplex_wavetable_alloc(n) : ht;
  gsl_fft_real_workspace* w = odd ? gsl_fft_real_workspace_alloc(n) : rw;
  gsl_fft_real_transform(own, 1, n, t, w);
  gsl_fft_halfcomplex_unpack(own, full, 1, n);
  EACH(i, 2 * n) PUT(full[i]);
  EACH(i, n) own[i] *= own[i];
  gsl_fft_halfcomplex_inverse(own, 1, n, h, w);
  SHOW;
  gsl_fft_halfcomplex_backward(own, 1, n, h, w);
  gsl_fft_halfcomplex_transform(own, 1, n, h, w);
  SHOW;
  gsl_fft_real_wavetable_free(t);
  gsl_fft_halfcomplex_wavetable_free(h);
  gsl_fft_real_workspace_free(w);
}
AGAIN;
gsl_fft_real_radix2_transform(own, 2, 8);
gsl_fft_real_radix2_transform(own + 1, 2, 8);
SHOW;
double part[8];
EACH(i, 8) part[i] = own[2 * i] * own[2 * i];
gsl_fft_halfcomplex_radix2_unpack(part, full, 1, 8);
EACH(i, 16) PUT(full[i]);
gsl_fft_halfcomplex_radix2_backward(part, 1, 8);
gsl_fft_halfcomplex_radix2_inverse(part, 1, 8);
gsl_fft_halfcomplex_radix2_transform(part, 1, 4);
EACH(i, 8) PUT(part[i]);
gsl_fft_complex_wavetable_free(ct);
gsl_fft_complex_workspace_free(cw);
"""
# One-sided differences are in test_numpy_gsl_differences.py: their values are noisy, so that differences of them are inaccurate.
SERIES = """
pair p = {NEXT, NEXT};
double low = NEXT, high = 2 + NEXT, at = low + 0.3 * NEXT, value, error;
gsl_function f = {smooth, &p};
gsl_cheb_series *s = gsl_cheb_alloc(12), *d = gsl_cheb_alloc(12), *i_ = gsl_cheb_alloc(12);
gsl_cheb_init(s, &f, low, high);
gsl_cheb_calc_deriv(d, s);
gsl_cheb_calc_integ(i_, s);
PUT(gsl_cheb_eval(s, at));
PUT(gsl_cheb_eval_n(s, 5, at) * gsl_cheb_eval(d, at));
PUT(gsl_cheb_eval(i_, at));
gsl_cheb_free(s);
gsl_cheb_free(d);
gsl_cheb_free(i_);
gsl_deriv_central(&f, at, 0.05, &value, &error);
PUT(value);
PUT(gsl_sf_hydrogenicR(4, 2, 1 + low, at) + gsl_sf_hydrogenicR(3, 0, high, at) * gsl_sf_hydrogenicR_1(low, at));
"""
ROOTS = """
double a = NEXT, b = NEXT, c = NEXT, r0 = 0, r1 = 0, r2 = 0, z[8], k[5];
PUT(gsl_poly_solve_cubic(a, b - 6, c, &r0, &r1, &r2));
PUT(r0);
PUT(r1);
PUT(r2);
PUT(gsl_poly_solve_cubic(a, b, c, &r0, &r1, &r2));
PUT(r0);
EACH(i, 5) k[i] = NEXT + i;
gsl_poly_complex_workspace* work = gsl_poly_complex_workspace_alloc(5);
gsl_poly_complex_solve(k, 5, work, z);
gsl_poly_complex_workspace_free(work);
EACH(i, 8) PUT(z[i]);
double v[6];
size_t order[6];
EACH(i, 6) v[i] = NEXT;
gsl_sort_index(order, v, 1, 6);
EACH(i, 6) PUT(v[order[i]] * i);
gsl_sort(v, 2, 3);
EACH(i, 6) PUT(v[i]);
gsl_vector_view view = gsl_vector_view_array(v, 6);
gsl_sort_vector(&view.vector);
EACH(i, 6) PUT(v[i] * v[i]);
"""
RANDOM = """
double a = NEXT, b = 2 + NEXT, value, error;
gsl_rng_env_setup();
gsl_rng* r = gsl_rng_alloc(gsl_rng_mt19937);
gsl_rng_set(r, 17);
PUT(a * gsl_rng_uniform(r) + b * gsl_rng_uniform_pos(r));
PUT(gsl_rng_get(r) % 7 + gsl_rng_uniform_int(r, 9) * a);
PUT(gsl_ran_gaussian(r, a) * gsl_ran_gaussian_ziggurat(r, b));
PUT(gsl_ran_exponential(r, a) + gsl_ran_flat(r, a, b) * gsl_ran_ugaussian(r));
PUT(gsl_ran_lognormal(r, a, b));
pair p = {a, b};
double low[2] = {0, a}, high[2] = {b, 3};
gsl_monte_function f = {plane, 2, &p};
gsl_monte_plain_state* s = gsl_monte_plain_alloc(2);
gsl_monte_plain_init(s);
gsl_monte_plain_integrate(&f, low, high, 2, 40, r, s, &value, &error);
PUT(value);
PUT(error);
gsl_monte_plain_free(s);
gsl_rng_free(r);
"""
# For each kind.
GRID = """
double px[5], py[4], z[20], value;
EACH(i, 5) px[i] = i + 0.1 * NEXT;
EACH(i, 4) py[i] = 2 * i + 0.1 * NEXT;
double at = 1.3 + 0.3 * NEXT, up = 2.6 + NEXT;
gsl_spline2d* s = gsl_spline2d_alloc(KIND, 5, 4);
EACH(i, 5) EACH(j, 4) gsl_spline2d_set(s, z, i, j, sin(px[i] * NEXT + j));
gsl_spline2d_init(s, px, py, z, 5, 4);
gsl_interp_accel *xa = gsl_interp_accel_alloc(), *ya = gsl_interp_accel_alloc();
PUT(gsl_spline2d_eval(s, at, up, xa, ya) * gsl_spline2d_get(s, z, 2, 1));
PUT(gsl_spline2d_eval(s, 4, 6, xa, ya) + gsl_spline2d_eval_extrap(s, at + 2, up, NULL, NULL));
PUT(gsl_spline2d_eval_deriv_x(s, at, up, xa, ya) + gsl_spline2d_eval_deriv_y(s, at, up, xa, ya));
PUT(gsl_spline2d_eval_deriv_xx(s, at, up, xa, ya));
PUT(gsl_spline2d_eval_deriv_yy(s, at, up, xa, ya) * gsl_spline2d_eval_deriv_xy(s, at, up, xa, ya));
gsl_spline2d_eval_e(s, at, up, xa, ya, &value);
PUT(value);
gsl_spline2d_free(s);
gsl_interp2d* g = gsl_interp2d_alloc(KIND, 5, 4);
gsl_interp2d_set(g, z, 2, 1, at);
gsl_interp2d_init(g, px, py, z, 5, 4);
PUT(gsl_interp2d_eval(g, px, py, z, at, up, xa, ya) * gsl_interp2d_get(g, z, 1, 1));
PUT(gsl_interp2d_eval_deriv_x(g, px, py, z, at, up, xa, ya) + gsl_interp2d_eval_deriv_y(g, px, py, z, at, up, xa, ya));
PUT(gsl_interp2d_eval_extrap(g, px, py, z, at, up, xa, ya) + KIND->min_size);
gsl_interp2d_free(g);
gsl_interp_accel_free(xa);
gsl_interp_accel_free(ya);
"""
CALLBACKS = """
static double bowl(const gsl_vector* v, void* given) {
  const double *p = given, a = gsl_vector_get(v, 0), b = gsl_vector_get(v, 1);
  return p[0] * (a - p[1]) * (a - p[1]) + b * b + 0.3 * a * b + p[2] * b + 0.1 * exp(a);
}
static void slope(const gsl_vector* v, void* given, gsl_vector* g) {
  const double *p = given, a = gsl_vector_get(v, 0), b = gsl_vector_get(v, 1);
  gsl_vector_set(g, 0, 2 * p[0] * (a - p[1]) + 0.3 * b + 0.1 * exp(a));
  gsl_vector_set(g, 1, 2 * b + 0.3 * a + p[2]);
}
static void bowl_and_slope(const gsl_vector* v, void* given, double* f, gsl_vector* g) {
  *f = bowl(v, given);
  slope(v, given, g);
}
static int misfit(const gsl_vector* v, void* given, gsl_vector* f) {
  const double *y = given, a = gsl_vector_get(v, 0), b = gsl_vector_get(v, 1);
  EACH(i, 5) gsl_vector_set(f, i, a * exp(-b * 0.4 * i) - y[i]);
  return GSL_SUCCESS;
}
static int misfit_slopes(const gsl_vector* v, void* given, gsl_matrix* j) {
  const double a = gsl_vector_get(v, 0), b = gsl_vector_get(v, 1);
  EACH(i, 5) gsl_matrix_set(j, i, 0, exp(-b * 0.4 * i)), gsl_matrix_set(j, i, 1, -0.4 * i * a * exp(-b * 0.4 * i));
  return GSL_SUCCESS;
}
"""
MINIMA = """
double p[3] = {NEXT + 1, NEXT, NEXT};
gsl_vector *first_place = gsl_vector_calloc(2), *step = gsl_vector_alloc(2);
gsl_vector_set_all(step, 0.2);
gsl_multimin_function plain = {bowl, 2, p};
gsl_multimin_fminimizer* m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, 2);
gsl_multimin_fminimizer_set(m, &plain, first_place, step);
EACH(k, 300) {
  if (gsl_multimin_fminimizer_iterate(m)) break;
  if (gsl_multimin_test_size(gsl_multimin_fminimizer_size(m), 1e-12) == GSL_SUCCESS) break;
}
PUT(gsl_multimin_fminimizer_minimum(m));
EACH(i, 2) PUT(1e-6 * gsl_vector_get(gsl_multimin_fminimizer_x(m), i));
gsl_multimin_fminimizer_free(m);
gsl_multimin_function_fdf sloped = {bowl, slope, bowl_and_slope, 2, p};
gsl_multimin_fdfminimizer* s = gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_conjugate_fr, 2);
gsl_multimin_fdfminimizer_set(s, &sloped, first_place, 0.1, 1e-6);
EACH(k, 100) {
  if (k == 40) gsl_multimin_fdfminimizer_restart(s);
  if (gsl_multimin_fdfminimizer_iterate(s)) break;
  if (gsl_multimin_test_gradient(gsl_multimin_fdfminimizer_gradient(s), 1e-13) == GSL_SUCCESS) break;
}
PUT(gsl_multimin_fdfminimizer_minimum(s));
EACH(i, 2) PUT(1e-3 * gsl_vector_get(gsl_multimin_fdfminimizer_x(s), i) + 0 * gsl_vector_get(gsl_multimin_fdfminimizer_dx(s), i));
gsl_multimin_fdfminimizer_free(s);
gsl_vector_free(first_place);
gsl_vector_free(step);
"""
NONLINEAR = """
double data[5];
EACH(i, 5) data[i] = 1.5 * exp(-0.3 * i) + 0.1 * NEXT;
double first[] = {1, 0.5};
gsl_vector_view first_place = gsl_vector_view_array(first, 2);
gsl_vector* weight = gsl_vector_alloc(5);
TAKE(weight);
gsl_matrix* cov = gsl_matrix_alloc(2, 2);
gsl_multifit_nlinear_parameters chosen = gsl_multifit_nlinear_default_parameters();
/* Forward differences of GSL's own step leave more rounding than is compared here. */
chosen.fdtype = GSL_MULTIFIT_NLINEAR_CTRDIFF;
chosen.h_df = 1e-5;
EACH(k, 2) {
  gsl_multifit_nlinear_fdf f = {misfit, k ? misfit_slopes : NULL, NULL, 5, 2, data};
  gsl_multifit_nlinear_workspace* w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &chosen, 5, 2);
  if (k) gsl_multifit_nlinear_init(&first_place.vector, &f, w);
  else gsl_multifit_nlinear_winit(&first_place.vector, weight, &f, w);
  int why;
  if (k) gsl_multifit_nlinear_driver(100, 1e-14, 1e-14, 0, NULL, NULL, &why, w);
  else EACH(l, 20) gsl_multifit_nlinear_iterate(w);
  GIVE(gsl_multifit_nlinear_position(w));
  GIVE(gsl_multifit_nlinear_residual(w));
  PUT(gsl_multifit_nlinear_niter(w) > 1000);
  gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 0, cov);
  if (!k) gsl_matrix_scale(cov, 1e-3);
  GIVE_MATRIX(cov);
  gsl_multifit_nlinear_free(w);
}
gsl_matrix_free(cov);
gsl_vector_free(weight);
"""
PROGRAMS = {
    "integration": INTEGRATION,
    "interpolation": INTERPOLATION,
    "minima": MINIMA,
    "nonlinear": NONLINEAR,
    "transforms": TRANSFORMS,
    "series": SERIES,
    "roots": ROOTS,
    "random": RANDOM,
    **{f"{kind}_grid": GRID.replace("KIND", f"gsl_interp2d_{kind}") for kind in ("bilinear", "bicubic")},
    **{kind: SPLINE.replace("KIND", f"gsl_interp_{kind}") for kind in KINDS},
}
# What some of them call.
FUNCTIONS = {name: INTEGRANDS for name in ("integration", "series", "random")} | dict.fromkeys(
    ("minima", "nonlinear"), CALLBACKS
)
