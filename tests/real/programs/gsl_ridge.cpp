// Ridge regression by GSL's vectors, matrices, BLAS and Cholesky factorisation.
#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

void ridge(const double* design, const double* y, double strength, double* weights, int m, int n) {
  gsl_matrix_const_view x = gsl_matrix_const_view_array(design, m, n);
  gsl_vector_const_view target = gsl_vector_const_view_array(y, m);
  gsl_vector_view w = gsl_vector_view_array(weights, n);
  gsl_matrix* normal = gsl_matrix_alloc(n, n);
  gsl_vector* rhs = gsl_vector_alloc(n);
  gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1.0, &x.matrix, &x.matrix, 0.0, normal);
  gsl_blas_dgemv(CblasTrans, 1.0, &x.matrix, &target.vector, 0.0, rhs);
  for (int i = 0; i < n; ++i) gsl_matrix_set(normal, i, i, gsl_matrix_get(normal, i, i) + strength);
  gsl_linalg_cholesky_decomp1(normal);
  gsl_linalg_cholesky_solve(normal, rhs, &w.vector);
  gsl_matrix_free(normal);
  gsl_vector_free(rhs);
}
