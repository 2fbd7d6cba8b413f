// The growth of a disturbance: eigenvalues of a matrix that is not symmetric, and a least-squares fit by QR with pivoting.
#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>

#include <initializer_list>

void growth(const double* rates, double* fastest, double* spread, double* balance, int n) {
  gsl_matrix* jacobian = gsl_matrix_alloc(n, n);
  gsl_matrix* design = gsl_matrix_alloc(n, n - 1);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      gsl_matrix_set(jacobian, i, j, rates[n * i + j]);
      if (j + 1 < n) gsl_matrix_set(design, i, j, rates[n * i + j]);
    }
  gsl_vector_complex* values = gsl_vector_complex_alloc(n);
  gsl_eigen_nonsymm_workspace* work = gsl_eigen_nonsymm_alloc(n);
  gsl_eigen_nonsymm(jacobian, values, work);
  gsl_complex total = gsl_complex_rect(0.0, 0.0);
  *fastest = -1e300;
  for (int i = 0; i < n; ++i) {
    gsl_complex z = gsl_vector_complex_get(values, i);
    if (GSL_REAL(z) > *fastest) *fastest = GSL_REAL(z);
    total = gsl_complex_add(total, gsl_complex_mul(z, gsl_complex_conjugate(gsl_complex_mul_real(z, 0.5))));
  }
  *spread = gsl_complex_abs(total);

  gsl_vector *tau = gsl_vector_alloc(n - 1), *norm = gsl_vector_alloc(n - 1), *x = gsl_vector_alloc(n - 1);
  gsl_vector *load = gsl_vector_alloc(n), *rest = gsl_vector_alloc(n);
  gsl_permutation* order = gsl_permutation_alloc(n - 1);
  int sign;
  gsl_linalg_QRPT_decomp(design, tau, order, &sign, norm);
  for (int i = 0; i < n; ++i) gsl_vector_set(load, i, rates[n * i + n - 1]);
  gsl_linalg_QRPT_lssolve(design, tau, order, load, x, rest);
  for (int i = 0; i + 1 < n; ++i) balance[i] = gsl_vector_get(x, i);

  for (gsl_vector* v : {tau, norm, x, load, rest}) gsl_vector_free(v);
  gsl_permutation_free(order);
  gsl_matrix_free(design);
  gsl_matrix_free(jacobian);
  gsl_eigen_nonsymm_free(work);
  gsl_vector_complex_free(values);
}
