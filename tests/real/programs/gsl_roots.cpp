// Kepler's equation by gsl_roots with and without slopes, the bottom of a potential well by gsl_min, a chemical equilibrium by gsl_multiroots.
#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>
#include <gsl/gsl_multiroots.h>
#include <gsl/gsl_roots.h>
#include <cmath>

namespace {
struct Orbit {
  double anomaly, eccentricity;
};
double kepler(double at, void* given) {
  const auto* o = static_cast<const Orbit*>(given);
  return at - o->eccentricity * std::sin(at) - o->anomaly;
}
double kepler_slope(double at, void* given) { return 1 - static_cast<const Orbit*>(given)->eccentricity * std::cos(at); }
void kepler_both(double at, void* given, double* value, double* slope) {
  *value = kepler(at, given);
  *slope = kepler_slope(at, given);
}

double bracketed(Orbit orbit) {
  gsl_function f = {kepler, &orbit};
  gsl_root_fsolver* solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
  gsl_root_fsolver_set(solver, &f, 0, 4);
  for (int i = 0, status = GSL_CONTINUE; i < 100 && status == GSL_CONTINUE; i++) {
    gsl_root_fsolver_iterate(solver);
    status = gsl_root_test_interval(gsl_root_fsolver_x_lower(solver), gsl_root_fsolver_x_upper(solver), 0, 1e-13);
  }
  const double root = gsl_root_fsolver_root(solver);
  gsl_root_fsolver_free(solver);
  return root;
}

double with_slope(Orbit orbit) {
  gsl_function_fdf f = {kepler, kepler_slope, kepler_both, &orbit};
  gsl_root_fdfsolver* solver = gsl_root_fdfsolver_alloc(gsl_root_fdfsolver_steffenson);
  double now = 1, before = 0;
  gsl_root_fdfsolver_set(solver, &f, now);
  for (int i = 0, status = GSL_CONTINUE; i < 100 && status == GSL_CONTINUE; i++) {
    gsl_root_fdfsolver_iterate(solver);
    before = now;
    now = gsl_root_fdfsolver_root(solver);
    status = gsl_root_test_delta(now, before, 0, 1e-13);
  }
  gsl_root_fdfsolver_free(solver);
  return now;
}

double well(double at, void* given) {
  const double* depth = static_cast<const double*>(given);
  return std::exp(-2 * at) + 0.2 * depth[0] * at * at - depth[1] * at;
}

int equilibrium(const gsl_vector* u, void* given, gsl_vector* f) {
  const double* k = static_cast<const double*>(given);
  const double a = gsl_vector_get(u, 0), b = gsl_vector_get(u, 1);
  gsl_vector_set(f, 0, a + k[0] * a * b - 1);
  gsl_vector_set(f, 1, b + k[0] * a * b + 2 * k[1] * b * b - k[2]);
  return GSL_SUCCESS;
}
}  // namespace

void roots(const double* x, double* y) {
  y[0] = bracketed({x[0], x[1]});
  y[1] = with_slope({x[0], x[1]});

  double depth[2] = {x[2], x[0]};
  gsl_function f = {well, depth};
  gsl_min_fminimizer* minimizer = gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent);
  gsl_min_fminimizer_set(minimizer, &f, 1.5, -1, 20);
  for (int i = 0, status = GSL_CONTINUE; i < 100 && status == GSL_CONTINUE; i++) {
    gsl_min_fminimizer_iterate(minimizer);
    status = gsl_min_test_interval(gsl_min_fminimizer_x_lower(minimizer), gsl_min_fminimizer_x_upper(minimizer), 1e-9, 0);
  }
  y[2] = gsl_min_fminimizer_f_minimum(minimizer);
  gsl_min_fminimizer_free(minimizer);

  double constants[3] = {x[0], x[1], x[2]};
  gsl_multiroot_function equations = {equilibrium, 2, constants};
  gsl_vector* start = gsl_vector_alloc(2);
  gsl_vector_set_all(start, 0.5);
  gsl_multiroot_fsolver* solver = gsl_multiroot_fsolver_alloc(gsl_multiroot_fsolver_hybrids, 2);
  gsl_multiroot_fsolver_set(solver, &equations, start);
  for (int i = 0, status = GSL_CONTINUE; i < 100 && status == GSL_CONTINUE; i++) {
    if (gsl_multiroot_fsolver_iterate(solver) != GSL_SUCCESS) break;
    status = gsl_multiroot_test_residual(solver->f, 1e-13);
  }
  y[3] = gsl_vector_get(solver->x, 0);
  y[4] = gsl_vector_get(gsl_multiroot_fsolver_root(solver), 1);
  gsl_multiroot_fsolver_free(solver);
  gsl_vector_free(start);
}
