// An instrument's calibration: a polynomial by weighted least squares, a straight line by QR, and the condition of both by singular values.
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#include <initializer_list>

void calibration(const double* reading, const double* truth, const double* weight, int n, double* result) {
  gsl_matrix* design = gsl_matrix_alloc(n, 3);
  gsl_matrix* covariance = gsl_matrix_alloc(3, 3);
  gsl_vector *y = gsl_vector_alloc(n), *w = gsl_vector_alloc(n), *c = gsl_vector_alloc(3);
  for (int i = 0; i < n; i++) {
    gsl_matrix_set(design, i, 0, 1.0);
    gsl_matrix_set(design, i, 1, reading[i]);
    gsl_matrix_set(design, i, 2, reading[i] * reading[i]);
    gsl_vector_set(y, i, truth[i]);
    gsl_vector_set(w, i, weight[i]);
  }
  double chisq;
  gsl_multifit_linear_workspace* work = gsl_multifit_linear_alloc(n, 3);
  gsl_multifit_wlinear(design, w, y, c, covariance, &chisq, work);
  gsl_multifit_linear_free(work);
  for (int k = 0; k < 3; k++) result[k] = gsl_vector_get(c, k) + gsl_matrix_get(covariance, k, k);

  gsl_vector *tau = gsl_vector_alloc(3), *rest = gsl_vector_alloc(n);
  gsl_matrix* copy = gsl_matrix_alloc(n, 3);
  gsl_matrix_memcpy(copy, design);
  gsl_linalg_QR_decomp(copy, tau);
  gsl_linalg_QR_lssolve(copy, tau, y, c, rest);
  result[3] = gsl_vector_get(c, 2) + gsl_vector_get(rest, 0);

  gsl_matrix* v = gsl_matrix_alloc(3, 3);
  gsl_vector *s = gsl_vector_alloc(3), *space = gsl_vector_alloc(3);
  gsl_linalg_SV_decomp(design, v, s, space);
  result[4] = gsl_vector_get(s, 0) / gsl_vector_get(s, 2);
  gsl_matrix_free(design);
  gsl_matrix_free(covariance);
  gsl_matrix_free(copy);
  gsl_matrix_free(v);
  for (gsl_vector* each : std::initializer_list<gsl_vector*>{y, w, c, tau, rest, s, space}) gsl_vector_free(each);
}
