/* Vectors, matrices, BLAS and linear systems of GSL: small ones as code that Enzyme differentiates, the others by the rules
 * of BLAS and LAPACK. What GSL checks and reports by its error handler, sizes and indices, is not checked here. A factorisation
 * that fails has derivatives that are not-a-number.
 *
 * Source: GSL's reference manual for what the names mean and how matrices and factors are stored.
 */
#include <ffgrad/derivatives.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_REPLACES(gsl_blas_dasum, ffgrad_gsl_blas_dasum)
FFGRAD_REPLACES(gsl_blas_daxpy, ffgrad_gsl_blas_daxpy)
FFGRAD_REPLACES(gsl_blas_dcopy, ffgrad_gsl_blas_dcopy)
FFGRAD_REPLACES(gsl_blas_ddot, ffgrad_gsl_blas_ddot)
FFGRAD_REPLACES(gsl_blas_dgemm, ffgrad_gsl_blas_dgemm)
FFGRAD_REPLACES(gsl_blas_dgemv, ffgrad_gsl_blas_dgemv)
FFGRAD_REPLACES(gsl_blas_dger, ffgrad_gsl_blas_dger)
FFGRAD_REPLACES(gsl_blas_dnrm2, ffgrad_gsl_blas_dnrm2)
FFGRAD_REPLACES(gsl_blas_dscal, ffgrad_gsl_blas_dscal)
FFGRAD_REPLACES(gsl_blas_dswap, ffgrad_gsl_blas_dswap)
FFGRAD_REPLACES(gsl_blas_dsymm, ffgrad_gsl_blas_dsymm)
FFGRAD_REPLACES(gsl_blas_dsymv, ffgrad_gsl_blas_dsymv)
FFGRAD_REPLACES(gsl_blas_dsyr, ffgrad_gsl_blas_dsyr)
FFGRAD_REPLACES(gsl_blas_dsyr2, ffgrad_gsl_blas_dsyr2)
FFGRAD_REPLACES(gsl_blas_dsyrk, ffgrad_gsl_blas_dsyrk)
FFGRAD_REPLACES(gsl_blas_dtrmm, ffgrad_gsl_blas_dtrmm)
FFGRAD_REPLACES(gsl_blas_dtrmv, ffgrad_gsl_blas_dtrmv)
FFGRAD_REPLACES(gsl_blas_dtrsm, ffgrad_gsl_blas_dtrsm)
FFGRAD_REPLACES(gsl_blas_dtrsv, ffgrad_gsl_blas_dtrsv)
FFGRAD_REPLACES(gsl_blas_idamax, ffgrad_gsl_blas_idamax)
FFGRAD_REPLACES(gsl_linalg_LU_decomp, ffgrad_gsl_linalg_LU_decomp)
FFGRAD_REPLACES(gsl_linalg_LU_det, ffgrad_gsl_linalg_LU_det)
FFGRAD_REPLACES(gsl_linalg_LU_invert, ffgrad_gsl_linalg_LU_invert)
FFGRAD_REPLACES(gsl_linalg_LU_lndet, ffgrad_gsl_linalg_LU_lndet)
FFGRAD_REPLACES(gsl_linalg_LU_sgndet, ffgrad_gsl_linalg_LU_sgndet)
FFGRAD_REPLACES(gsl_linalg_LU_solve, ffgrad_gsl_linalg_LU_solve)
FFGRAD_REPLACES(gsl_linalg_LU_svx, ffgrad_gsl_linalg_LU_svx)
FFGRAD_REPLACES(gsl_linalg_cholesky_decomp, ffgrad_gsl_linalg_cholesky_decomp)
FFGRAD_REPLACES(gsl_linalg_cholesky_decomp1, ffgrad_gsl_linalg_cholesky_decomp1)
FFGRAD_REPLACES(gsl_linalg_cholesky_invert, ffgrad_gsl_linalg_cholesky_invert)
FFGRAD_REPLACES(gsl_linalg_cholesky_solve, ffgrad_gsl_linalg_cholesky_solve)
FFGRAD_REPLACES(gsl_linalg_cholesky_svx, ffgrad_gsl_linalg_cholesky_svx)
FFGRAD_REPLACES(gsl_linalg_solve_symm_tridiag, ffgrad_gsl_linalg_solve_symm_tridiag)
FFGRAD_REPLACES(gsl_linalg_solve_tridiag, ffgrad_gsl_linalg_solve_tridiag)
FFGRAD_REPLACES(gsl_matrix_add, ffgrad_gsl_matrix_add)
FFGRAD_REPLACES(gsl_matrix_add_constant, ffgrad_gsl_matrix_add_constant)
FFGRAD_REPLACES(gsl_matrix_add_diagonal, ffgrad_gsl_matrix_add_diagonal)
FFGRAD_REPLACES(gsl_matrix_alloc, ffgrad_gsl_matrix_alloc)
FFGRAD_REPLACES(gsl_matrix_calloc, ffgrad_gsl_matrix_calloc)
FFGRAD_REPLACES(gsl_matrix_column, ffgrad_gsl_matrix_column)
FFGRAD_REPLACES(gsl_matrix_const_column, ffgrad_gsl_matrix_const_column)
FFGRAD_REPLACES(gsl_matrix_const_diagonal, ffgrad_gsl_matrix_const_diagonal)
FFGRAD_REPLACES(gsl_matrix_const_ptr, ffgrad_gsl_matrix_const_ptr)
FFGRAD_REPLACES(gsl_matrix_const_row, ffgrad_gsl_matrix_const_row)
FFGRAD_REPLACES(gsl_matrix_const_submatrix, ffgrad_gsl_matrix_const_submatrix)
FFGRAD_REPLACES(gsl_matrix_const_view_array, ffgrad_gsl_matrix_const_view_array)
FFGRAD_REPLACES(gsl_matrix_const_view_array_with_tda, ffgrad_gsl_matrix_const_view_array_with_tda)
FFGRAD_REPLACES(gsl_matrix_const_view_vector, ffgrad_gsl_matrix_const_view_vector)
FFGRAD_REPLACES(gsl_matrix_diagonal, ffgrad_gsl_matrix_diagonal)
FFGRAD_REPLACES(gsl_matrix_div_elements, ffgrad_gsl_matrix_div_elements)
FFGRAD_REPLACES(gsl_matrix_free, ffgrad_gsl_matrix_free)
FFGRAD_REPLACES(gsl_matrix_get, ffgrad_gsl_matrix_get)
FFGRAD_REPLACES(gsl_matrix_get_col, ffgrad_gsl_matrix_get_col)
FFGRAD_REPLACES(gsl_matrix_get_row, ffgrad_gsl_matrix_get_row)
FFGRAD_REPLACES(gsl_matrix_memcpy, ffgrad_gsl_matrix_memcpy)
FFGRAD_REPLACES(gsl_matrix_mul_elements, ffgrad_gsl_matrix_mul_elements)
FFGRAD_REPLACES(gsl_matrix_ptr, ffgrad_gsl_matrix_ptr)
FFGRAD_REPLACES(gsl_matrix_row, ffgrad_gsl_matrix_row)
FFGRAD_REPLACES(gsl_matrix_scale, ffgrad_gsl_matrix_scale)
FFGRAD_REPLACES(gsl_matrix_scale_columns, ffgrad_gsl_matrix_scale_columns)
FFGRAD_REPLACES(gsl_matrix_scale_rows, ffgrad_gsl_matrix_scale_rows)
FFGRAD_REPLACES(gsl_matrix_set, ffgrad_gsl_matrix_set)
FFGRAD_REPLACES(gsl_matrix_set_all, ffgrad_gsl_matrix_set_all)
FFGRAD_REPLACES(gsl_matrix_set_col, ffgrad_gsl_matrix_set_col)
FFGRAD_REPLACES(gsl_matrix_set_identity, ffgrad_gsl_matrix_set_identity)
FFGRAD_REPLACES(gsl_matrix_set_row, ffgrad_gsl_matrix_set_row)
FFGRAD_REPLACES(gsl_matrix_set_zero, ffgrad_gsl_matrix_set_zero)
FFGRAD_REPLACES(gsl_matrix_sub, ffgrad_gsl_matrix_sub)
FFGRAD_REPLACES(gsl_matrix_submatrix, ffgrad_gsl_matrix_submatrix)
FFGRAD_REPLACES(gsl_matrix_transpose, ffgrad_gsl_matrix_transpose)
FFGRAD_REPLACES(gsl_matrix_transpose_memcpy, ffgrad_gsl_matrix_transpose_memcpy)
FFGRAD_REPLACES(gsl_matrix_view_array, ffgrad_gsl_matrix_view_array)
FFGRAD_REPLACES(gsl_matrix_view_array_with_tda, ffgrad_gsl_matrix_view_array_with_tda)
FFGRAD_REPLACES(gsl_matrix_view_vector, ffgrad_gsl_matrix_view_vector)
FFGRAD_REPLACES(gsl_permutation_alloc, ffgrad_gsl_permutation_alloc)
FFGRAD_REPLACES(gsl_permutation_calloc, ffgrad_gsl_permutation_calloc)
FFGRAD_REPLACES(gsl_permutation_free, ffgrad_gsl_permutation_free)
FFGRAD_REPLACES(gsl_permutation_get, ffgrad_gsl_permutation_get)
FFGRAD_REPLACES(gsl_permutation_init, ffgrad_gsl_permutation_init)
FFGRAD_REPLACES(gsl_vector_add, ffgrad_gsl_vector_add)
FFGRAD_REPLACES(gsl_vector_add_constant, ffgrad_gsl_vector_add_constant)
FFGRAD_REPLACES(gsl_vector_alloc, ffgrad_gsl_vector_alloc)
FFGRAD_REPLACES(gsl_vector_axpby, ffgrad_gsl_vector_axpby)
FFGRAD_REPLACES(gsl_vector_calloc, ffgrad_gsl_vector_calloc)
FFGRAD_REPLACES(gsl_vector_const_ptr, ffgrad_gsl_vector_const_ptr)
FFGRAD_REPLACES(gsl_vector_const_subvector, ffgrad_gsl_vector_const_subvector)
FFGRAD_REPLACES(gsl_vector_const_view_array, ffgrad_gsl_vector_const_view_array)
FFGRAD_REPLACES(gsl_vector_const_view_array_with_stride, ffgrad_gsl_vector_const_view_array_with_stride)
FFGRAD_REPLACES(gsl_vector_div, ffgrad_gsl_vector_div)
FFGRAD_REPLACES(gsl_vector_free, ffgrad_gsl_vector_free)
FFGRAD_REPLACES(gsl_vector_get, ffgrad_gsl_vector_get)
FFGRAD_REPLACES(gsl_vector_max, ffgrad_gsl_vector_max)
FFGRAD_REPLACES(gsl_vector_max_index, ffgrad_gsl_vector_max_index)
FFGRAD_REPLACES(gsl_vector_memcpy, ffgrad_gsl_vector_memcpy)
FFGRAD_REPLACES(gsl_vector_min, ffgrad_gsl_vector_min)
FFGRAD_REPLACES(gsl_vector_min_index, ffgrad_gsl_vector_min_index)
FFGRAD_REPLACES(gsl_vector_mul, ffgrad_gsl_vector_mul)
FFGRAD_REPLACES(gsl_vector_ptr, ffgrad_gsl_vector_ptr)
FFGRAD_REPLACES(gsl_vector_reverse, ffgrad_gsl_vector_reverse)
FFGRAD_REPLACES(gsl_vector_scale, ffgrad_gsl_vector_scale)
FFGRAD_REPLACES(gsl_vector_set, ffgrad_gsl_vector_set)
FFGRAD_REPLACES(gsl_vector_set_all, ffgrad_gsl_vector_set_all)
FFGRAD_REPLACES(gsl_vector_set_basis, ffgrad_gsl_vector_set_basis)
FFGRAD_REPLACES(gsl_vector_set_zero, ffgrad_gsl_vector_set_zero)
FFGRAD_REPLACES(gsl_vector_sub, ffgrad_gsl_vector_sub)
FFGRAD_REPLACES(gsl_vector_subvector, ffgrad_gsl_vector_subvector)
FFGRAD_REPLACES(gsl_vector_subvector_with_stride, ffgrad_gsl_vector_subvector_with_stride)
FFGRAD_REPLACES(gsl_vector_sum, ffgrad_gsl_vector_sum)
FFGRAD_REPLACES(gsl_vector_swap, ffgrad_gsl_vector_swap)
FFGRAD_REPLACES(gsl_vector_swap_elements, ffgrad_gsl_vector_swap_elements)
FFGRAD_REPLACES(gsl_vector_view_array, ffgrad_gsl_vector_view_array)
FFGRAD_REPLACES(gsl_vector_view_array_with_stride, ffgrad_gsl_vector_view_array_with_stride)

#define G(name) ffgrad_gsl_##name
#define T double
#define B(name) ffgrad_gsl_d##name
#define C(name) ffgrad_gsl_cblas_d##name
#define F(name) ffgrad_gsl_library_d##name
#include <ffgrad/rules/blas.h>
#include <ffgrad/rules/blas_names.h>
#include <ffgrad/rules/lapack.h>
#include <ffgrad/rules/blas_loops.h>
#include <ffgrad/rules/gsl_vector.h>
typedef struct {
  size_t size, *data;
} permutation;
#define EACH(i, n) for (size_t i = 0; i < (n); i++)

/* Vectors */
static inline vector of_vector(double *data, size_t n, size_t stride) { return (vector){n, stride, data, NULL, 0}; }
vector *G(vector_alloc)(size_t n) {
  vector *v = malloc(sizeof(vector));
  v->size = n;
  v->stride = 1;
  v->data = malloc((n ? n : 1) * sizeof(double));
  v->block = NULL;
  v->owner = 1;
  return v;
}
vector *G(vector_calloc)(size_t n) {
  vector *v = G(vector_alloc)(n);
  EACH(i, n) v->data[i] = 0;
  return v;
}
void G(vector_free)(vector *v) {
  if (!v) return;
  if (v->owner) free(v->data);
  free(v);
}
double G(vector_get)(const vector *v, size_t i) { return V(v, i); }
void G(vector_set)(vector *v, size_t i, double x) { V(v, i) = x; }
double *G(vector_ptr)(vector *v, size_t i) { return &V(v, i); }
const double *G(vector_const_ptr)(const vector *v, size_t i) { return &V(v, i); }
void G(vector_set_all)(vector *v, double x) { EACH(i, v->size) V(v, i) = x; }
void G(vector_set_zero)(vector *v) { EACH(i, v->size) V(v, i) = 0; }
int G(vector_set_basis)(vector *v, size_t k) {
  EACH(i, v->size) V(v, i) = i == k;
  return 0;
}
int G(vector_memcpy)(vector *to, const vector *from) {
  EACH(i, to->size) V(to, i) = V(from, i);
  return 0;
}
int G(vector_swap)(vector *a, vector *b) {
  EACH(i, a->size) {
    double x = V(a, i);
    V(a, i) = V(b, i);
    V(b, i) = x;
  }
  return 0;
}
int G(vector_swap_elements)(vector *v, size_t i, size_t j) {
  double x = V(v, i);
  V(v, i) = V(v, j);
  V(v, j) = x;
  return 0;
}
int G(vector_reverse)(vector *v) {
  EACH(i, v->size / 2) G(vector_swap_elements)(v, i, v->size - 1 - i);
  return 0;
}
int G(vector_add)(vector *a, const vector *b) {
  EACH(i, a->size) V(a, i) += V(b, i);
  return 0;
}
int G(vector_sub)(vector *a, const vector *b) {
  EACH(i, a->size) V(a, i) -= V(b, i);
  return 0;
}
int G(vector_mul)(vector *a, const vector *b) {
  EACH(i, a->size) V(a, i) *= V(b, i);
  return 0;
}
int G(vector_div)(vector *a, const vector *b) {
  EACH(i, a->size) V(a, i) /= V(b, i);
  return 0;
}
int G(vector_scale)(vector *v, double x) {
  EACH(i, v->size) V(v, i) *= x;
  return 0;
}
int G(vector_add_constant)(vector *v, double x) {
  EACH(i, v->size) V(v, i) += x;
  return 0;
}
int G(vector_axpby)(double a, const vector *x, double b, vector *y) {
  EACH(i, y->size) V(y, i) = a * V(x, i) + (b == 0 ? 0 : b * V(y, i));
  return 0;
}
double G(vector_sum)(const vector *v) {
  double sum = 0;
  EACH(i, v->size) sum += V(v, i);
  return sum;
}
size_t G(vector_max_index)(const vector *v) {
  size_t at = 0;
  EACH(i, v->size) if (V(v, i) > V(v, at)) at = i;
  return at;
}
size_t G(vector_min_index)(const vector *v) {
  size_t at = 0;
  EACH(i, v->size) if (V(v, i) < V(v, at)) at = i;
  return at;
}
double G(vector_max)(const vector *v) { return V(v, G(vector_max_index)(v)); }
double G(vector_min)(const vector *v) { return V(v, G(vector_min_index)(v)); }
vector G(vector_view_array)(double *x, size_t n) { return of_vector(x, n, 1); }
vector G(vector_view_array_with_stride)(double *x, size_t stride, size_t n) { return of_vector(x, n, stride); }
vector G(vector_const_view_array)(const double *x, size_t n) { return of_vector((double *)x, n, 1); }
vector G(vector_const_view_array_with_stride)(const double *x, size_t stride, size_t n) { return of_vector((double *)x, n, stride); }
vector G(vector_subvector)(vector *v, size_t i, size_t n) { return of_vector(&V(v, i), n, v->stride); }
vector G(vector_const_subvector)(const vector *v, size_t i, size_t n) { return of_vector(&V(v, i), n, v->stride); }
vector G(vector_subvector_with_stride)(vector *v, size_t i, size_t step, size_t n) { return of_vector(&V(v, i), n, step * v->stride); }

/* Matrices */
static inline matrix of_matrix(double *data, size_t m, size_t n, size_t tda) { return (matrix){m, n, tda, data, NULL, 0}; }
matrix *G(matrix_alloc)(size_t m, size_t n) {
  matrix *a = malloc(sizeof(matrix));
  a->size1 = m;
  a->size2 = n;
  a->tda = n;
  a->data = malloc((m * n ? m * n : 1) * sizeof(double));
  a->block = NULL;
  a->owner = 1;
  return a;
}
matrix *G(matrix_calloc)(size_t m, size_t n) {
  matrix *a = G(matrix_alloc)(m, n);
  EACH(i, m * n) a->data[i] = 0;
  return a;
}
void G(matrix_free)(matrix *a) {
  if (!a) return;
  if (a->owner) free(a->data);
  free(a);
}
double G(matrix_get)(const matrix *a, size_t i, size_t j) { return M(a, i, j); }
void G(matrix_set)(matrix *a, size_t i, size_t j, double x) { M(a, i, j) = x; }
double *G(matrix_ptr)(matrix *a, size_t i, size_t j) { return &M(a, i, j); }
const double *G(matrix_const_ptr)(const matrix *a, size_t i, size_t j) { return &M(a, i, j); }
void G(matrix_set_all)(matrix *a, double x) { EACH(i, a->size1) EACH(j, a->size2) M(a, i, j) = x; }
void G(matrix_set_zero)(matrix *a) { EACH(i, a->size1) EACH(j, a->size2) M(a, i, j) = 0; }
void G(matrix_set_identity)(matrix *a) { EACH(i, a->size1) EACH(j, a->size2) M(a, i, j) = i == j; }
int G(matrix_memcpy)(matrix *to, const matrix *from) {
  EACH(i, to->size1) EACH(j, to->size2) M(to, i, j) = M(from, i, j);
  return 0;
}
int G(matrix_transpose_memcpy)(matrix *to, const matrix *from) {
  EACH(i, to->size1) EACH(j, to->size2) M(to, i, j) = M(from, j, i);
  return 0;
}
int G(matrix_transpose)(matrix *a) {
  EACH(i, a->size1) EACH(j, i) {
    double x = M(a, i, j);
    M(a, i, j) = M(a, j, i);
    M(a, j, i) = x;
  }
  return 0;
}
int G(matrix_add)(matrix *a, const matrix *b) {
  EACH(i, a->size1) EACH(j, a->size2) M(a, i, j) += M(b, i, j);
  return 0;
}
int G(matrix_sub)(matrix *a, const matrix *b) {
  EACH(i, a->size1) EACH(j, a->size2) M(a, i, j) -= M(b, i, j);
  return 0;
}
int G(matrix_mul_elements)(matrix *a, const matrix *b) {
  EACH(i, a->size1) EACH(j, a->size2) M(a, i, j) *= M(b, i, j);
  return 0;
}
int G(matrix_div_elements)(matrix *a, const matrix *b) {
  EACH(i, a->size1) EACH(j, a->size2) M(a, i, j) /= M(b, i, j);
  return 0;
}
int G(matrix_scale)(matrix *a, double x) {
  EACH(i, a->size1) EACH(j, a->size2) M(a, i, j) *= x;
  return 0;
}
int G(matrix_add_constant)(matrix *a, double x) {
  EACH(i, a->size1) EACH(j, a->size2) M(a, i, j) += x;
  return 0;
}
int G(matrix_add_diagonal)(matrix *a, double x) {
  EACH(i, a->size1 < a->size2 ? a->size1 : a->size2) M(a, i, i) += x;
  return 0;
}
int G(matrix_scale_rows)(matrix *a, const vector *v) {
  EACH(i, a->size1) EACH(j, a->size2) M(a, i, j) *= V(v, i);
  return 0;
}
int G(matrix_scale_columns)(matrix *a, const vector *v) {
  EACH(i, a->size1) EACH(j, a->size2) M(a, i, j) *= V(v, j);
  return 0;
}
int G(matrix_get_row)(vector *v, const matrix *a, size_t i) {
  EACH(j, a->size2) V(v, j) = M(a, i, j);
  return 0;
}
int G(matrix_get_col)(vector *v, const matrix *a, size_t j) {
  EACH(i, a->size1) V(v, i) = M(a, i, j);
  return 0;
}
int G(matrix_set_row)(matrix *a, size_t i, const vector *v) {
  EACH(j, a->size2) M(a, i, j) = V(v, j);
  return 0;
}
int G(matrix_set_col)(matrix *a, size_t j, const vector *v) {
  EACH(i, a->size1) M(a, i, j) = V(v, i);
  return 0;
}
vector G(matrix_row)(matrix *a, size_t i) { return of_vector(&M(a, i, 0), a->size2, 1); }
vector G(matrix_const_row)(const matrix *a, size_t i) { return of_vector(&M(a, i, 0), a->size2, 1); }
vector G(matrix_column)(matrix *a, size_t j) { return of_vector(&M(a, 0, j), a->size1, a->tda); }
vector G(matrix_const_column)(const matrix *a, size_t j) { return of_vector(&M(a, 0, j), a->size1, a->tda); }
vector G(matrix_diagonal)(matrix *a) { return of_vector(a->data, a->size1 < a->size2 ? a->size1 : a->size2, a->tda + 1); }
vector G(matrix_const_diagonal)(const matrix *a) { return of_vector(a->data, a->size1 < a->size2 ? a->size1 : a->size2, a->tda + 1); }
matrix G(matrix_submatrix)(matrix *a, size_t i, size_t j, size_t m, size_t n) { return of_matrix(&M(a, i, j), m, n, a->tda); }
matrix G(matrix_const_submatrix)(const matrix *a, size_t i, size_t j, size_t m, size_t n) { return of_matrix(&M(a, i, j), m, n, a->tda); }
matrix G(matrix_view_array)(double *x, size_t m, size_t n) { return of_matrix(x, m, n, n); }
matrix G(matrix_const_view_array)(const double *x, size_t m, size_t n) { return of_matrix((double *)x, m, n, n); }
matrix G(matrix_view_array_with_tda)(double *x, size_t m, size_t n, size_t tda) { return of_matrix(x, m, n, tda); }
matrix G(matrix_const_view_array_with_tda)(const double *x, size_t m, size_t n, size_t tda) { return of_matrix((double *)x, m, n, tda); }
matrix G(matrix_view_vector)(vector *v, size_t m, size_t n) { return of_matrix(v->data, m, n, n); }
matrix G(matrix_const_view_vector)(const vector *v, size_t m, size_t n) { return of_matrix(v->data, m, n, n); }

/* Permutations */
permutation *G(permutation_alloc)(size_t n) {
  permutation *p = malloc(sizeof(permutation));
  p->size = n;
  p->data = malloc((n ? n : 1) * sizeof(size_t));
  return p;
}
void G(permutation_init)(permutation *p) { EACH(i, p->size) p->data[i] = i; }
permutation *G(permutation_calloc)(size_t n) {
  permutation *p = G(permutation_alloc)(n);
  G(permutation_init)(p);
  return p;
}
void G(permutation_free)(permutation *p) {
  if (!p) return;
  free(p->data);
  free(p);
}
size_t G(permutation_get)(const permutation *p, size_t i) { return p->data[i]; }

/* BLAS, rows first in memory: 111 is no transposition, 121 the upper triangle, 132 the unit diagonal, 141 the left side. */
int G(blas_ddot)(const vector *x, const vector *y, double *result) {
  double sum = 0;
  EACH(i, x->size) sum += V(x, i) * V(y, i);
  *result = sum;
  return 0;
}
/* At the zero vector, where there is no derivative, it is taken to be zero. */
double G(blas_dnrm2)(const vector *x) {
  double sum = 0;
  EACH(i, x->size) sum += V(x, i) * V(x, i);
  return sum > 0 ? sqrt(sum) : 0;
}
double G(blas_dasum)(const vector *x) {
  double sum = 0;
  EACH(i, x->size) sum += fabs(V(x, i));
  return sum;
}
size_t G(blas_idamax)(const vector *x) {
  size_t at = 0;
  EACH(i, x->size) if (fabs(V(x, i)) > fabs(V(x, at))) at = i;
  return at;
}
int G(blas_daxpy)(double a, const vector *x, vector *y) {
  EACH(i, x->size) V(y, i) += a * V(x, i);
  return 0;
}
void G(blas_dscal)(double a, vector *x) { EACH(i, x->size) V(x, i) *= a; }
int G(blas_dcopy)(const vector *x, vector *y) { return G(vector_memcpy)(y, x); }
int G(blas_dswap)(vector *x, vector *y) { return G(vector_swap)(x, y); }
int G(blas_dgemv)(int trans, double alpha, const matrix *a, const vector *x, double beta, vector *y) {
  C(gemv)(ROWS, trans, (int)a->size1, (int)a->size2, alpha, a->data, (int)a->tda, x->data, (int)x->stride, beta, y->data,
          (int)y->stride);
  return 0;
}
int G(blas_dgemm)(int ta, int tb, double alpha, const matrix *a, const matrix *b, double beta, matrix *c) {
  int inner = (int)(ta == 111 ? a->size2 : a->size1);
  C(gemm)(ROWS, ta, tb, (int)c->size1, (int)c->size2, inner, alpha, a->data, (int)a->tda, b->data, (int)b->tda, beta,
          c->data, (int)c->tda);
  return 0;
}
int G(blas_dger)(double alpha, const vector *x, const vector *y, matrix *a) {
  C(ger)(ROWS, (int)a->size1, (int)a->size2, alpha, x->data, (int)x->stride, y->data, (int)y->stride, a->data, (int)a->tda);
  return 0;
}
/* The whole of a symmetric matrix of which one triangle counts. */
static matrix *whole(int uplo, const matrix *a) {
  matrix *full = G(matrix_alloc)(a->size1, a->size1);
  EACH(i, a->size1) EACH(j, a->size1) M(full, i, j) = (uplo == 121) == (i <= j) || i == j ? M(a, i, j) : M(a, j, i);
  return full;
}
int G(blas_dsymv)(int uplo, double alpha, const matrix *a, const vector *x, double beta, vector *y) {
  matrix *full = whole(uplo, a);
  G(blas_dgemv)(111, alpha, full, x, beta, y);
  G(matrix_free)(full);
  return 0;
}
int G(blas_dsymm)(int side, int uplo, double alpha, const matrix *a, const matrix *b, double beta, matrix *c) {
  matrix *full = whole(uplo, a);
  if (side == 141) G(blas_dgemm)(111, 111, alpha, full, b, beta, c);
  else G(blas_dgemm)(111, 111, alpha, b, full, beta, c);
  G(matrix_free)(full);
  return 0;
}
#define IN_TRIANGLE(uplo, i, j) ((i) == (j) || ((i) < (j)) == ((uplo) == 121))
int G(blas_dsyr)(int uplo, double alpha, const vector *x, matrix *a) {
  EACH(i, a->size1) EACH(j, a->size1) if (IN_TRIANGLE(uplo, i, j)) M(a, i, j) += alpha * V(x, i) * V(x, j);
  return 0;
}
int G(blas_dsyr2)(int uplo, double alpha, const vector *x, const vector *y, matrix *a) {
  EACH(i, a->size1) EACH(j, a->size1) {
    if (IN_TRIANGLE(uplo, i, j)) M(a, i, j) += alpha * (V(x, i) * V(y, j) + V(y, i) * V(x, j));
  }
  return 0;
}
int G(blas_dsyrk)(int uplo, int trans, double alpha, const matrix *a, double beta, matrix *c) {
  matrix *product = G(matrix_alloc)(c->size1, c->size1);
  G(blas_dgemm)(trans, trans == 111 ? 112 : 111, alpha, a, a, 0, product);
  EACH(i, c->size1) EACH(j, c->size1) {
    if (IN_TRIANGLE(uplo, i, j)) M(c, i, j) = M(product, i, j) + (beta == 0 ? 0 : beta * M(c, i, j));
  }
  G(matrix_free)(product);
  return 0;
}
int G(blas_dtrsm)(int side, int uplo, int trans, int diag, double alpha, const matrix *a, matrix *b) {
  C(trsm)(ROWS, side, uplo, trans, diag, (int)b->size1, (int)b->size2, alpha, a->data, (int)a->tda, b->data, (int)b->tda);
  return 0;
}
/* A vector is a matrix of one column. */
int G(blas_dtrsv)(int uplo, int trans, int diag, const matrix *a, vector *x) {
  matrix column = of_matrix(x->data, x->size, 1, x->stride);
  return G(blas_dtrsm)(141, uplo, trans, diag, 1, a, &column);
}
int G(blas_dtrmm)(int side, int uplo, int trans, int diag, double alpha, const matrix *a, matrix *b) {
  matrix *triangle = G(matrix_calloc)(a->size1, a->size1), *old = G(matrix_alloc)(b->size1, b->size2);
  EACH(i, a->size1) EACH(j, a->size1) {
    if (IN_TRIANGLE(uplo, i, j)) M(triangle, i, j) = i == j && diag == 132 ? 1 : M(a, i, j);
  }
  G(matrix_memcpy)(old, b);
  if (side == 141) G(blas_dgemm)(trans, 111, alpha, triangle, old, 0, b);
  else G(blas_dgemm)(111, trans, alpha, old, triangle, 0, b);
  G(matrix_free)(triangle);
  G(matrix_free)(old);
  return 0;
}
int G(blas_dtrmv)(int uplo, int trans, int diag, const matrix *a, vector *x) {
  matrix column = of_matrix(x->data, x->size, 1, x->stride);
  return G(blas_dtrmm)(141, uplo, trans, diag, 1, a, &column);
}

/* Cholesky: A = L L^T, L in the lower triangle, which is the upper one columns first; the older name stores L^T in the upper
 * one too. */
int G(linalg_cholesky_decomp1)(matrix *a) { return B(potrf)('U', (int)a->size1, a->data, (int)a->tda) ? 1 : 0; }
int G(linalg_cholesky_decomp)(matrix *a) {
  int status = G(linalg_cholesky_decomp1)(a);
  EACH(i, a->size1) EACH(j, i) M(a, j, i) = M(a, i, j);
  return status;
}
static int cholesky_solve(const matrix *l, matrix *x) {
  G(blas_dtrsm)(141, 122, 111, 131, 1, l, x);
  return G(blas_dtrsm)(141, 122, 112, 131, 1, l, x);
}
int G(linalg_cholesky_svx)(const matrix *l, vector *x) {
  matrix column = of_matrix(x->data, x->size, 1, x->stride);
  return cholesky_solve(l, &column);
}
int G(linalg_cholesky_solve)(const matrix *l, const vector *b, vector *x) {
  G(vector_memcpy)(x, b);
  return G(linalg_cholesky_svx)(l, x);
}
int G(linalg_cholesky_invert)(matrix *l) {
  matrix *inverse = G(matrix_alloc)(l->size1, l->size1);
  G(matrix_set_identity)(inverse);
  cholesky_solve(l, inverse);
  G(matrix_memcpy)(l, inverse);
  G(matrix_free)(inverse);
  return 0;
}

/* P A = L U with partial pivoting, on a copy columns first in memory, as LAPACK has them. */
int G(linalg_LU_decomp)(matrix *a, permutation *p, int *signum) {
  size_t m = a->size1, n = a->size2;
  double *columns = malloc((m * n + 1) * sizeof(double));
  int *exchange = malloc((m + 1) * sizeof(int));
  EACH(i, m) EACH(j, n) columns[i + j * m] = M(a, i, j);
  B(getrf)((int)m, (int)n, columns, (int)m, exchange);
  EACH(i, m) EACH(j, n) M(a, i, j) = columns[i + j * m];
  *signum = 1;
  EACH(i, m) p->data[i] = i;
  EACH(i, m < n ? m : n) {
    size_t other = exchange[i] - 1, row = p->data[i];
    p->data[i] = p->data[other];
    p->data[other] = row;
    if (other != i) *signum = -*signum;
  }
  free(columns);
  free(exchange);
  return 0;
}
static int LU_solve(const matrix *lu, matrix *x) {
  G(blas_dtrsm)(141, 122, 111, 132, 1, lu, x);
  return G(blas_dtrsm)(141, 121, 111, 131, 1, lu, x);
}
int G(linalg_LU_solve)(const matrix *lu, const permutation *p, const vector *b, vector *x) {
  matrix column = of_matrix(x->data, x->size, 1, x->stride);
  EACH(i, x->size) V(x, i) = V(b, p->data[i]);
  return LU_solve(lu, &column);
}
int G(linalg_LU_svx)(const matrix *lu, const permutation *p, vector *x) {
  vector *b = G(vector_alloc)(x->size);
  G(vector_memcpy)(b, x);
  G(linalg_LU_solve)(lu, p, b, x);
  G(vector_free)(b);
  return 0;
}
int G(linalg_LU_invert)(const matrix *lu, const permutation *p, matrix *inverse) {
  EACH(i, lu->size1) EACH(j, lu->size1) M(inverse, i, j) = p->data[i] == j;
  return LU_solve(lu, inverse);
}
double G(linalg_LU_det)(matrix *lu, int signum) {
  double det = signum;
  EACH(i, lu->size1) det *= M(lu, i, i);
  return det;
}
double G(linalg_LU_lndet)(matrix *lu) {
  double sum = 0;
  EACH(i, lu->size1) sum += log(fabs(M(lu, i, i)));
  return sum;
}
int G(linalg_LU_sgndet)(matrix *lu, int signum) {
  EACH(i, lu->size1) signum = M(lu, i, i) > 0 ? signum : M(lu, i, i) < 0 ? -signum : 0;
  return signum;
}
/* A tridiagonal system, by elimination without exchanges. */
static void eliminate(const vector *diagonal, const vector *above, const vector *below, const vector *b, vector *x) {
  size_t n = diagonal->size;
  double *d = malloc((n + 1) * sizeof(double));
  EACH(i, n) {
    double factor = i ? V(below, i - 1) / d[i - 1] : 0;
    d[i] = V(diagonal, i) - (i ? factor * V(above, i - 1) : 0);
    V(x, i) = V(b, i) - (i ? factor * V(x, i - 1) : 0);
  }
  EACH(r, n) {
    size_t i = n - 1 - r;
    V(x, i) = (V(x, i) - (r ? V(above, i) * V(x, i + 1) : 0)) / d[i];
  }
  free(d);
}
int G(linalg_solve_tridiag)(const vector *diagonal, const vector *above, const vector *below, const vector *b, vector *x) {
  eliminate(diagonal, above, below, b, x);
  return 0;
}
int G(linalg_solve_symm_tridiag)(const vector *diagonal, const vector *off, const vector *b, vector *x) {
  eliminate(diagonal, off, off, b, x);
  return 0;
}
