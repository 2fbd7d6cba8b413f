// A decay fitted to weighted counts by trust-region Levenberg and Marquardt, with errors from the covariance.
#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>

#include <cmath>
#include <cstdio>

namespace {
// Counts are relative to a decay that is expected.
struct Counts { const double *time, *count; size_t n; };

int misfit(const gsl_vector* model, void* given, gsl_vector* residual) {
  const Counts* c = static_cast<const Counts*>(given);
  double height = gsl_vector_get(model, 0), rate = gsl_vector_get(model, 1), ground = gsl_vector_get(model, 2);
  for (size_t i = 0; i < c->n; ++i)
    gsl_vector_set(residual, i, height * std::exp(-rate * c->time[i]) + ground -
                                    (0.2 + 2.0 * std::exp(-0.9 * c->time[i])) * c->count[i]);
  return GSL_SUCCESS;
}

void tell(const size_t iteration, void*, const gsl_multifit_nlinear_workspace* fit) {
  gsl_vector* model = gsl_multifit_nlinear_position(fit);
  std::fprintf(stderr, "%zu: %g %g\n", iteration, gsl_vector_get(model, 0), gsl_vector_get(model, 1));
}
}  // namespace

void fitted(const double* time, const double* count, const double* weight, double* model, double* error, int n) {
  Counts counts = {time, count, static_cast<size_t>(n)};
  gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
  gsl_multifit_nlinear_workspace* fit = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, n, 3);
  gsl_multifit_nlinear_fdf problem = {};
  problem.f = misfit;
  problem.n = n;
  problem.p = 3;
  problem.params = &counts;
  double first[] = {1.0, 1.0, 0.0};
  gsl_vector_view start = gsl_vector_view_array(first, 3);
  gsl_vector_const_view weights = gsl_vector_const_view_array(weight, n);
  gsl_multifit_nlinear_winit(&start.vector, &weights.vector, &problem, fit);
  int why = 0;
  gsl_multifit_nlinear_driver(50, 1e-12, 1e-12, 0.0, tell, nullptr, &why, fit);
  double chi = 0.0;
  gsl_vector* residual = gsl_multifit_nlinear_residual(fit);
  gsl_blas_ddot(residual, residual, &chi);
  gsl_matrix* covariance = gsl_matrix_alloc(3, 3);
  gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(fit), 0.0, covariance);
  for (int i = 0; i < 3; ++i) {
    model[i] = gsl_vector_get(gsl_multifit_nlinear_position(fit), i);
    error[i] = std::sqrt(chi / (n - 3) * gsl_matrix_get(covariance, i, i));
  }
  gsl_matrix_free(covariance);
  gsl_multifit_nlinear_free(fit);
}
