"""Programs that use GSL's vectors, matrices, BLAS, linear systems, statistics and complex numbers, as bodies of a C function.

``test_numpy_gsl_programs.py`` compiles and compares them; the macros are those of ``gsl_arrays.START``.
"""

from __future__ import annotations

# Bodies of `void all(const double* x, double* y)`, after how many numbers they read. NEXT is the next of these, PUT(v) gives one out.
START = """\
#include <gsl/gsl_blas.h>
#include <gsl/gsl_chebyshev.h>
#include <gsl/gsl_complex.h>
#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_deriv.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_fft_complex.h>
#include <gsl/gsl_fft_halfcomplex.h>
#include <gsl/gsl_fft_real.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_monte_plain.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_permutation.h>
#include <gsl/gsl_poly.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_coulomb.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_sort_vector.h>
#include <gsl/gsl_spline.h>
#include <gsl/gsl_spline2d.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#define NEXT (*x++)
#define PUT(v) (*y++ = (v))
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define TAKE(v) EACH(i_, (int)(v)->size) gsl_vector_set(v, i_, NEXT)
#define TAKE_MATRIX(m) EACH(i_, (int)(m)->size1) EACH(j_, (int)(m)->size2) gsl_matrix_set(m, i_, j_, NEXT)
#define GIVE(v) EACH(i_, (int)(v)->size) PUT(gsl_vector_get(v, i_))
#define GIVE_MATRIX(m) EACH(i_, (int)(m)->size1) EACH(j_, (int)(m)->size2) PUT(gsl_matrix_get(m, i_, j_))
"""
VECTORS = """
gsl_vector *a = gsl_vector_alloc(4), *b = gsl_vector_calloc(4);
TAKE(a);
TAKE(b);
double factor = NEXT;
gsl_vector_add(a, b);
gsl_vector_mul(b, a);
gsl_vector_sub(a, b);
gsl_vector_div(b, a);
gsl_vector_scale(a, factor);
gsl_vector_add_constant(b, factor);
gsl_vector_axpby(factor, a, 2, b);
gsl_vector_axpby(2, a, factor, b);
GIVE(a);
GIVE(b);
gsl_vector_swap(a, b);
gsl_vector_swap_elements(a, 0, 2);
gsl_vector_reverse(b);
GIVE(a);
GIVE(b);
gsl_vector* c = gsl_vector_alloc(4);
gsl_vector_memcpy(c, a);
gsl_vector_set_all(a, factor * factor);
GIVE(a);
gsl_vector_set_zero(a);
PUT(gsl_vector_sum(c) + gsl_vector_max(c) * gsl_vector_min(b));
PUT(gsl_vector_max_index(c) + 10 * gsl_vector_min_index(c));
*gsl_vector_ptr(a, 1) = *gsl_vector_const_ptr(c, 2) * factor;
GIVE(a);
gsl_vector_set_basis(a, 2);
GIVE(a);
double own[8];
EACH(i, 8) own[i] = NEXT;
gsl_vector_view v1 = gsl_vector_view_array(own, 8), v2 = gsl_vector_view_array_with_stride(own, 2, 4);
gsl_vector_const_view v3 = gsl_vector_const_view_array(own + 1, 3), v4 = gsl_vector_const_view_array_with_stride(own, 3, 2);
gsl_vector_scale(&v2.vector, factor);
GIVE(&v1.vector);
GIVE(&v3.vector);
GIVE(&v4.vector);
gsl_vector_view s1 = gsl_vector_subvector(c, 1, 2), s2 = gsl_vector_subvector_with_stride(c, 0, 2, 2);
gsl_vector_const_view s3 = gsl_vector_const_subvector(c, 2, 2);
gsl_vector_set(&s1.vector, 0, factor);
GIVE(&s2.vector);
GIVE(&s3.vector);
GIVE(c);
gsl_vector_free(a);
gsl_vector_free(b);
gsl_vector_free(c);
"""
MATRICES = """
gsl_matrix *a = gsl_matrix_alloc(2, 3), *b = gsl_matrix_calloc(2, 3), *t = gsl_matrix_alloc(3, 2);
TAKE_MATRIX(a);
TAKE_MATRIX(b);
double factor = NEXT;
gsl_matrix_add(a, b);
gsl_matrix_mul_elements(b, a);
gsl_matrix_sub(a, b);
gsl_matrix_div_elements(b, a);
gsl_matrix_scale(a, factor);
gsl_matrix_add_constant(b, factor);
gsl_matrix_add_diagonal(b, factor);
GIVE_MATRIX(a);
GIVE_MATRIX(b);
gsl_matrix_transpose_memcpy(t, a);
GIVE_MATRIX(t);
gsl_vector *two = gsl_vector_alloc(2), *three = gsl_vector_alloc(3);
TAKE(two);
TAKE(three);
gsl_matrix_scale_rows(a, two);
gsl_matrix_scale_columns(a, three);
gsl_matrix_set_row(b, 1, three);
gsl_matrix_get_row(three, a, 0);
gsl_matrix_set_col(t, 1, three);
gsl_matrix_get_col(two, a, 2);
GIVE_MATRIX(a);
GIVE_MATRIX(b);
GIVE_MATRIX(t);
GIVE(two);
gsl_vector_view row = gsl_matrix_row(a, 1), column = gsl_matrix_column(a, 2), diagonal = gsl_matrix_diagonal(b);
gsl_vector_scale(&row.vector, factor);
gsl_vector_scale(&column.vector, factor);
gsl_vector_scale(&diagonal.vector, factor);
gsl_vector_const_view crow = gsl_matrix_const_row(a, 1), ccolumn = gsl_matrix_const_column(a, 2);
gsl_vector_const_view cdiagonal = gsl_matrix_const_diagonal(b);
GIVE(&crow.vector);
GIVE(&ccolumn.vector);
GIVE(&cdiagonal.vector);
gsl_matrix_view part = gsl_matrix_submatrix(a, 0, 1, 2, 2);
gsl_matrix_const_view cpart = gsl_matrix_const_submatrix(b, 0, 1, 2, 2);
gsl_matrix_transpose(&part.matrix);
GIVE_MATRIX(a);
GIVE_MATRIX(&cpart.matrix);
double own[8];
EACH(i, 8) own[i] = NEXT;
gsl_matrix_view m1 = gsl_matrix_view_array(own, 2, 4), m2 = gsl_matrix_view_array_with_tda(own, 2, 3, 4);
gsl_matrix_const_view m3 = gsl_matrix_const_view_array(own, 4, 2), m4 = gsl_matrix_const_view_array_with_tda(own, 2, 2, 4);
gsl_matrix_scale(&m2.matrix, factor);
GIVE_MATRIX(&m1.matrix);
GIVE_MATRIX(&m3.matrix);
GIVE_MATRIX(&m4.matrix);
gsl_vector_view all = gsl_vector_view_array(own, 8);
gsl_matrix_view m5 = gsl_matrix_view_vector(&all.vector, 4, 2);
gsl_matrix_const_view m6 = gsl_matrix_const_view_vector(&all.vector, 2, 4);
gsl_matrix_set(&m5.matrix, 1, 1, factor);
GIVE_MATRIX(&m6.matrix);
*gsl_matrix_ptr(a, 0, 0) = 2 * *gsl_matrix_const_ptr(a, 1, 1);
gsl_matrix_memcpy(b, a);
GIVE_MATRIX(b);
gsl_matrix_set_all(a, factor);
GIVE_MATRIX(a);
gsl_matrix_set_zero(a);
gsl_matrix_set_identity(b);
GIVE_MATRIX(a);
GIVE_MATRIX(b);
gsl_matrix_free(a);
gsl_matrix_free(b);
gsl_matrix_free(t);
gsl_vector_free(two);
gsl_vector_free(three);
"""
BLAS = """
double own[6];
gsl_matrix *a = gsl_matrix_alloc(2, 3), *b = gsl_matrix_alloc(3, 2), *c = gsl_matrix_alloc(2, 2), *d = gsl_matrix_alloc(3, 3);
gsl_vector *v = gsl_vector_alloc(3), *w = gsl_vector_alloc(2);
gsl_vector_view strided = gsl_vector_view_array_with_stride(own, 3, 2);
gsl_vector* u = &strided.vector;
TAKE_MATRIX(a);
TAKE_MATRIX(b);
TAKE_MATRIX(c);
TAKE_MATRIX(d);
TAKE(v);
TAKE(u);
double alpha = NEXT, beta = NEXT, dot;
gsl_blas_dcopy(u, w);
gsl_blas_dgemv(CblasNoTrans, alpha, a, v, beta, u);
GIVE(u);
gsl_blas_dgemv(CblasTrans, alpha, a, u, beta, v);
GIVE(v);
gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, alpha, a, b, beta, c);
GIVE_MATRIX(c);
gsl_blas_dgemm(CblasTrans, CblasTrans, alpha, a, b, 0, d);
GIVE_MATRIX(d);
gsl_blas_dsymv(CblasUpper, alpha, c, u, beta, w);
gsl_blas_dsymv(CblasLower, alpha, c, w, beta, u);
GIVE(u);
gsl_blas_dger(alpha, u, v, a);
GIVE_MATRIX(a);
gsl_matrix* e = gsl_matrix_calloc(3, 2);
gsl_blas_dsymm(CblasRight, CblasUpper, alpha, c, b, beta, e);
gsl_blas_dsymm(CblasLeft, CblasLower, alpha, d, e, beta, b);
GIVE_MATRIX(b);
gsl_blas_dsyr(CblasUpper, alpha, v, d);
gsl_vector* other = gsl_vector_alloc(3);
gsl_vector_memcpy(other, v);
gsl_blas_dscal(beta, v);
gsl_blas_daxpy(alpha, other, v);
gsl_blas_dsyr2(CblasLower, alpha, v, other, d);
gsl_blas_dsyrk(CblasUpper, CblasNoTrans, alpha, a, beta, c);
gsl_blas_dsyrk(CblasLower, CblasTrans, alpha, a, beta, d);
GIVE_MATRIX(c);
GIVE_MATRIX(d);
gsl_blas_dswap(v, other);
gsl_blas_ddot(v, other, &dot);
PUT(dot);
PUT(gsl_blas_dnrm2(v) + gsl_blas_dasum(other) + gsl_blas_idamax(v));
gsl_matrix_free(a);
gsl_matrix_free(b);
gsl_matrix_free(c);
gsl_matrix_free(d);
gsl_matrix_free(e);
gsl_vector_free(v);
gsl_vector_free(w);
gsl_vector_free(other);
"""
TRIANGLES = """
gsl_matrix *a = gsl_matrix_alloc(3, 3), *b = gsl_matrix_alloc(3, 2), *c = gsl_matrix_alloc(2, 3);
gsl_vector* v = gsl_vector_alloc(3);
TAKE_MATRIX(a);
TAKE_MATRIX(b);
TAKE_MATRIX(c);
TAKE(v);
double alpha = NEXT;
gsl_matrix_add_diagonal(a, 4);
gsl_blas_dtrsv(CblasUpper, CblasNoTrans, CblasNonUnit, a, v);
gsl_blas_dtrsv(CblasLower, CblasTrans, CblasUnit, a, v);
gsl_blas_dtrmv(CblasUpper, CblasTrans, CblasNonUnit, a, v);
gsl_blas_dtrmv(CblasLower, CblasNoTrans, CblasUnit, a, v);
GIVE(v);
gsl_blas_dtrsm(CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, alpha, a, b);
gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, alpha, a, b);
gsl_blas_dtrmm(CblasLeft, CblasLower, CblasTrans, CblasUnit, alpha, a, b);
GIVE_MATRIX(b);
gsl_blas_dtrsm(CblasRight, CblasLower, CblasTrans, CblasNonUnit, alpha, a, c);
gsl_blas_dtrsm(CblasRight, CblasUpper, CblasNoTrans, CblasUnit, alpha, a, c);
gsl_blas_dtrmm(CblasRight, CblasUpper, CblasTrans, CblasNonUnit, alpha, a, c);
GIVE_MATRIX(c);
gsl_matrix_free(a);
gsl_matrix_free(b);
gsl_matrix_free(c);
gsl_vector_free(v);
"""
SYSTEMS = """
gsl_matrix *a = gsl_matrix_alloc(4, 4), *s = gsl_matrix_alloc(4, 4), *inverse = gsl_matrix_alloc(4, 4);
gsl_vector *b = gsl_vector_alloc(4), *v = gsl_vector_alloc(4), *c = gsl_vector_alloc(4);
gsl_vector* off = gsl_vector_alloc(3);
gsl_permutation *p = gsl_permutation_alloc(4), *q = gsl_permutation_calloc(4);
int sign;
TAKE_MATRIX(a);
TAKE(b);
TAKE(c);
TAKE(off);
gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, a, a, 0, s);
gsl_matrix_add_diagonal(s, 1);
gsl_linalg_LU_decomp(a, p, &sign);
gsl_linalg_LU_solve(a, p, b, v);
GIVE(v);
gsl_linalg_LU_svx(a, p, v);
GIVE(v);
gsl_linalg_LU_invert(a, p, inverse);
GIVE_MATRIX(inverse);
PUT(gsl_linalg_LU_det(a, sign));
PUT(gsl_linalg_LU_lndet(a));
PUT(gsl_linalg_LU_sgndet(a, sign) + 10 * gsl_permutation_get(p, 1) + gsl_permutation_get(q, 2));
gsl_permutation_init(q);
gsl_matrix_memcpy(inverse, s);
gsl_linalg_cholesky_decomp1(s);
gsl_linalg_cholesky_solve(s, b, v);
gsl_linalg_cholesky_svx(s, v);
GIVE(v);
gsl_linalg_cholesky_decomp(inverse);
GIVE_MATRIX(inverse);
gsl_linalg_cholesky_invert(inverse);
GIVE_MATRIX(inverse);
gsl_vector_add_constant(c, 5);
gsl_linalg_solve_symm_tridiag(c, off, b, v);
GIVE(v);
gsl_vector_view upper = gsl_vector_subvector(v, 0, 3);
gsl_vector_scale(&upper.vector, 0.5);
gsl_vector* w = gsl_vector_alloc(4);
gsl_linalg_solve_tridiag(c, &upper.vector, off, b, w);
GIVE(w);
gsl_matrix_free(a);
gsl_matrix_free(s);
gsl_matrix_free(inverse);
gsl_vector_free(b);
gsl_vector_free(c);
gsl_vector_free(v);
gsl_vector_free(w);
gsl_vector_free(off);
gsl_permutation_free(p);
gsl_permutation_free(q);
"""
STATISTICS = """
double a[6], b[6], w[6], c[4], dd[4], low = 0, high = 0, v[8];
EACH(i, 6) a[i] = NEXT;
EACH(i, 6) b[i] = NEXT;
EACH(i, 6) w[i] = 0.5 + exp(NEXT);
EACH(i, 4) c[i] = NEXT;
double at = NEXT, m = gsl_stats_mean(a, 1, 6);
PUT(gsl_stats_mean(a, 2, 3));
PUT(gsl_stats_tss(a, 1, 6) + gsl_stats_tss_m(a, 1, 6, at));
PUT(gsl_stats_variance(a, 1, 6) * gsl_stats_variance_m(b, 1, 6, at));
PUT(gsl_stats_variance_with_fixed_mean(a, 2, 3, at) + gsl_stats_sd_with_fixed_mean(b, 1, 6, at));
PUT(gsl_stats_sd(a, 1, 6) * gsl_stats_sd_m(b, 1, 6, at));
PUT(gsl_stats_absdev(a, 1, 6) + gsl_stats_absdev_m(b, 1, 6, at));
PUT(gsl_stats_skew(a, 1, 6) + gsl_stats_skew_m_sd(b, 1, 6, m, at));
PUT(gsl_stats_kurtosis(a, 1, 6) + gsl_stats_kurtosis_m_sd(b, 1, 6, m, at));
PUT(gsl_stats_covariance(a, 1, b, 1, 6) + gsl_stats_covariance_m(a, 1, b, 1, 6, m, at));
PUT(gsl_stats_correlation(a, 1, b, 1, 6));
PUT(gsl_stats_wmean(w, 1, a, 1, 6));
PUT(gsl_stats_max(a, 1, 6) - gsl_stats_min(a, 1, 6));
PUT(gsl_stats_quantile_from_sorted_data(a, 1, 6, 0.3) * gsl_stats_median_from_sorted_data(a, 1, 6));
PUT(gsl_stats_quantile_from_sorted_data(a, 1, 5, 0.9) * gsl_stats_median_from_sorted_data(a, 1, 5));
PUT(gsl_poly_eval(c, 4, at));
gsl_poly_eval_derivs(c, 4, at, v, 6);
EACH(i, 6) PUT(v[i]);
gsl_poly_dd_init(dd, a, c, 4);
PUT(gsl_poly_dd_eval(dd, a, 4, at));
PUT(gsl_poly_solve_quadratic(1 + c[0] * c[0], 6 + c[1], c[2], &low, &high));
PUT(low);
PUT(high);
PUT(gsl_poly_solve_quadratic(1 + c[0] * c[0], 0, -1 - c[2] * c[2], &low, &high));
PUT(low);
PUT(high);
gsl_fit_linear(a, 1, b, 1, 6, v, v + 1, v + 2, v + 3, v + 4, v + 5);
EACH(i, 6) PUT(v[i]);
gsl_fit_linear_est(at, v[0], v[1], v[2], v[3], v[4], v + 6, v + 7);
PUT(v[6] + v[7]);
gsl_fit_wlinear(a, 1, w, 1, b, 1, 6, v, v + 1, v + 2, v + 3, v + 4, v + 5);
EACH(i, 6) PUT(v[i]);
gsl_fit_mul(a, 1, b, 1, 6, v, v + 1, v + 2);
EACH(i, 3) PUT(v[i]);
"""
COMPLEX = """
#define GIVE_NUMBER(z) (PUT(GSL_REAL(z)), PUT(GSL_IMAG(z)))
double re = NEXT, im = NEXT, size = NEXT, angle = NEXT, t = NEXT;
gsl_complex a = gsl_complex_rect(re, -im), b = gsl_complex_polar(size, angle), c = gsl_complex_negative(a);
PUT(gsl_complex_abs(a) * gsl_complex_abs2(b) + gsl_complex_arg(c) * gsl_complex_logabs(a));
GIVE_NUMBER(gsl_complex_add(gsl_complex_sub(a, b), gsl_complex_mul(a, c)));
GIVE_NUMBER(gsl_complex_div(gsl_complex_inverse(a), gsl_complex_conjugate(b)));
GIVE_NUMBER(gsl_complex_add_real(gsl_complex_sub_real(gsl_complex_mul_real(a, t), 2 * t * t), t));
GIVE_NUMBER(gsl_complex_div_real(gsl_complex_mul_imag(b, t), t + 1));
GIVE_NUMBER(gsl_complex_exp(gsl_complex_sqrt(a)));
GIVE_NUMBER(gsl_complex_log(gsl_complex_sqrt(c)));
gsl_vector_complex *v = gsl_vector_complex_alloc(2), *w = gsl_vector_complex_calloc(2);
gsl_vector_complex_set(v, 1, b);
gsl_vector_complex_set(w, 0, gsl_vector_complex_get(v, 1));
GIVE_NUMBER(gsl_vector_complex_get(w, 0));
gsl_vector_complex_free(v);
gsl_vector_complex_free(w);
"""
PROGRAMS = {
    "vectors": VECTORS,
    "matrices": MATRICES,
    "blas": BLAS,
    "triangles": TRIANGLES,
    "systems": SYSTEMS,
    "statistics": STATISTICS,
    "complex": COMPLEX,
}
