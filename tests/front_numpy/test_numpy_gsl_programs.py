"""Programs that use GSL's vectors, matrices, BLAS, linear systems, interpolation, statistics and integration.

Each is compiled twice: by ffgrad, and by the system's compiler with the library itself, for values and differences.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write

RULES = Path(__file__).parents[2] / "compile-driver/rules"
LIBRARIES = ["gsl", "gslcblas"]
pytestmark = pytest.mark.skipif(
    ctypes.util.find_library("gsl") is None or not Path("/usr/include/gsl").is_dir() or not shutil.which("cc"),
    reason="needs libgsl-dev and a C compiler",
)

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
ORTHOGONAL = """
gsl_matrix *a = gsl_matrix_alloc(5, 3), *q = gsl_matrix_alloc(5, 5), *r = gsl_matrix_alloc(5, 3), *s = gsl_matrix_alloc(3, 3);
gsl_vector *tau = gsl_vector_alloc(3), *b = gsl_vector_alloc(5), *u = gsl_vector_alloc(3), *rest = gsl_vector_alloc(5);
gsl_vector *c = gsl_vector_alloc(3), *w = gsl_vector_alloc(3);
TAKE_MATRIX(a);
TAKE(b);
gsl_matrix_set(a, 0, 1, -2);
gsl_matrix_set(a, 3, 2, 3);
gsl_matrix_const_view top = gsl_matrix_const_submatrix(a, 0, 0, 3, 3);
gsl_matrix_memcpy(s, &top.matrix);
gsl_matrix_add_diagonal(s, 2);
gsl_linalg_QR_decomp(a, tau);
GIVE_MATRIX(a);
GIVE(tau);
gsl_linalg_QR_lssolve(a, tau, b, u, rest);
GIVE(u);
GIVE(rest);
gsl_linalg_QR_unpack(a, tau, q, r);
GIVE_MATRIX(q);
GIVE_MATRIX(r);
gsl_linalg_QR_QTvec(a, tau, b);
GIVE(b);
gsl_linalg_QR_Qvec(a, tau, rest);
GIVE(rest);
gsl_matrix* t = gsl_matrix_alloc(3, 3);
gsl_matrix_memcpy(t, s);
gsl_linalg_QR_decomp(s, tau);
gsl_linalg_QR_solve(s, tau, u, c);
GIVE(c);
gsl_linalg_QR_svx(s, tau, c);
GIVE(c);
gsl_linalg_QR_Rsolve(s, u, c);
gsl_linalg_QR_Rsvx(s, c);
GIVE(c);
gsl_linalg_HH_solve(t, u, w);
GIVE(w);
gsl_matrix_free(a);
gsl_matrix_free(q);
gsl_matrix_free(r);
gsl_matrix_free(s);
gsl_matrix_free(t);
gsl_vector_free(tau);
gsl_vector_free(b);
gsl_vector_free(u);
gsl_vector_free(rest);
gsl_vector_free(c);
gsl_vector_free(w);
"""
# Of vectors, which have two signs, products.
SINGULAR = """
gsl_matrix *a = gsl_matrix_alloc(4, 3), *v = gsl_matrix_alloc(3, 3), *p = gsl_matrix_alloc(4, 3), *square = gsl_matrix_alloc(3, 3);
gsl_vector *s = gsl_vector_alloc(3), *b = gsl_vector_alloc(4), *c = gsl_vector_alloc(3), *work = gsl_vector_alloc(3);
for (int kind = 0; kind < 3; kind++) {
  TAKE_MATRIX(a);
  TAKE(b);
  gsl_matrix_set(a, 0, 1, -2 - kind);
  gsl_matrix_set(a, 3, 2, 3);
  if (kind == 0) gsl_linalg_SV_decomp(a, v, s, work);
  if (kind == 1) gsl_linalg_SV_decomp_jacobi(a, v, s);
  if (kind == 2) gsl_linalg_SV_decomp_mod(a, square, v, s, work);
  gsl_linalg_SV_solve(a, v, s, b, c);
  GIVE(s);
  GIVE(c);
  gsl_blas_dgemm(CblasNoTrans, CblasTrans, 1, a, v, 0, p);
  GIVE_MATRIX(p);
}
gsl_matrix_free(a);
gsl_matrix_free(v);
gsl_matrix_free(p);
gsl_vector_free(s);
gsl_vector_free(b);
gsl_vector_free(c);
gsl_vector_free(work);
"""
EIGEN = """
gsl_matrix *a = gsl_matrix_alloc(4, 4), *b = gsl_matrix_alloc(4, 4), *v = gsl_matrix_alloc(4, 4), *p = gsl_matrix_alloc(4, 4);
gsl_vector* w = gsl_vector_alloc(4);
TAKE_MATRIX(a);
EACH(i, 4) EACH(j, i) gsl_matrix_set(a, j, i, gsl_matrix_get(a, i, j));
gsl_matrix_set(a, 0, 0, -1);
gsl_matrix_set(a, 1, 1, 3);
gsl_matrix_memcpy(b, a);
gsl_eigen_symm_workspace* some = gsl_eigen_symm_alloc(4);
gsl_eigen_symm(b, w, some);
gsl_eigen_symm_free(some);
GIVE(w);
gsl_eigen_symmv_workspace* all = gsl_eigen_symmv_alloc(4);
gsl_eigen_symmv(a, w, v, all);
gsl_eigen_symmv_free(all);
for (int order = 0; order < 4; order++) {
  gsl_eigen_symmv_sort(w, v, (gsl_eigen_sort_t)order);
  GIVE(w);
}
EACH(i, 4) EACH(j, 4) gsl_matrix_set(p, i, j, gsl_matrix_get(v, i, 0) * gsl_matrix_get(v, j, 0) + 2 * gsl_matrix_get(v, i, 2) * gsl_matrix_get(v, j, 2));
GIVE_MATRIX(p);
gsl_matrix_free(a);
gsl_matrix_free(b);
gsl_matrix_free(v);
gsl_matrix_free(p);
gsl_vector_free(w);
"""
FITS = """
gsl_matrix *design = gsl_matrix_alloc(5, 3), *cov = gsl_matrix_alloc(3, 3);
gsl_vector *y_ = gsl_vector_alloc(5), *w = gsl_vector_alloc(5), *c = gsl_vector_alloc(3), *r = gsl_vector_alloc(5);
double chisq, value, error;
TAKE_MATRIX(design);
TAKE(y_);
TAKE(w);
EACH(i, 5) gsl_matrix_set(design, i, 1, i + gsl_matrix_get(design, i, 1));
EACH(i, 5) gsl_matrix_set(design, i, 2, i * i - gsl_matrix_get(design, i, 2));
gsl_multifit_linear_workspace* work = gsl_multifit_linear_alloc(5, 3);
gsl_multifit_linear(design, y_, c, cov, &chisq, work);
GIVE(c);
GIVE_MATRIX(cov);
PUT(chisq);
gsl_vector_const_view row = gsl_matrix_const_row(design, 2);
gsl_multifit_linear_est(&row.vector, c, cov, &value, &error);
PUT(value);
PUT(error);
gsl_multifit_linear_residuals(design, y_, c, r);
GIVE(r);
gsl_multifit_wlinear(design, w, y_, c, cov, &chisq, work);
GIVE(c);
GIVE_MATRIX(cov);
PUT(chisq);
gsl_multifit_linear_free(work);
gsl_matrix_free(design);
gsl_matrix_free(cov);
gsl_vector_free(y_);
gsl_vector_free(w);
gsl_vector_free(c);
gsl_vector_free(r);
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
PIVOTED = """
gsl_matrix *a = gsl_matrix_alloc(5, 3), *c = gsl_matrix_alloc(5, 3), *q = gsl_matrix_alloc(5, 5), *r = gsl_matrix_alloc(5, 3);
gsl_matrix *s = gsl_matrix_alloc(3, 3), *qs = gsl_matrix_alloc(3, 3), *rs = gsl_matrix_alloc(3, 3);
gsl_vector *tau = gsl_vector_alloc(3), *b = gsl_vector_alloc(5), *u = gsl_vector_alloc(3), *rest = gsl_vector_alloc(5);
gsl_vector *norm = gsl_vector_alloc(3), *w = gsl_vector_alloc(3);
gsl_permutation* order = gsl_permutation_alloc(3);
int sign;
TAKE_MATRIX(a);
TAKE(b);
gsl_matrix_set(a, 0, 1, -2);
gsl_matrix_set(a, 3, 2, 3);
gsl_matrix_const_view top = gsl_matrix_const_submatrix(a, 0, 0, 3, 3);
gsl_matrix_memcpy(s, &top.matrix);
gsl_matrix_add_diagonal(s, 2);
gsl_matrix_memcpy(c, a);
gsl_linalg_QRPT_decomp(a, tau, order, &sign, norm);
GIVE_MATRIX(a);
GIVE(tau);
PUT(sign);
EACH(i, 3) PUT(gsl_permutation_get(order, i));
gsl_linalg_QRPT_lssolve(a, tau, order, b, u, rest);
GIVE(u);
GIVE(rest);
gsl_linalg_QRPT_decomp2(c, q, r, tau, order, &sign, norm);
GIVE_MATRIX(q);
GIVE_MATRIX(r);
gsl_linalg_QRPT_decomp2(s, qs, rs, tau, order, &sign, norm);
gsl_linalg_QRPT_QRsolve(qs, rs, order, u, w);
GIVE(w);
gsl_linalg_QRPT_decomp(s, tau, order, &sign, norm);
gsl_linalg_QRPT_solve(s, tau, order, u, w);
GIVE(w);
gsl_linalg_QRPT_svx(s, tau, order, w);
GIVE(w);
gsl_linalg_QRPT_Rsolve(s, order, u, w);
GIVE(w);
gsl_linalg_QRPT_Rsvx(s, order, w);
GIVE(w);
gsl_permutation_free(order);
EACH(i, 7) gsl_matrix_free(i == 0 ? a : i == 1 ? c : i == 2 ? q : i == 3 ? r : i == 4 ? s : i == 5 ? qs : rs);
EACH(i, 6) gsl_vector_free(i == 0 ? tau : i == 1 ? b : i == 2 ? u : i == 3 ? rest : i == 4 ? norm : w);
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
    "integration": INTEGRATION,
    "interpolation": INTERPOLATION,
    "orthogonal": ORTHOGONAL,
    "pivoted": PIVOTED,
    "minima": MINIMA,
    "nonlinear": NONLINEAR,
    "complex": COMPLEX,
    "singular": SINGULAR,
    "eigen": EIGEN,
    "fits": FITS,
    "transforms": TRANSFORMS,
    "series": SERIES,
    "roots": ROOTS,
    "random": RANDOM,
    **{f"{kind}_grid": GRID.replace("KIND", f"gsl_interp2d_{kind}") for kind in ("bilinear", "bicubic")},
    **{kind: SPLINE.replace("KIND", f"gsl_interp_{kind}") for kind in KINDS},
}
COUNTS = {
    "orthogonal": 20,
    "pivoted": 20,
    "minima": 3,
    "nonlinear": 10,
    "complex": 5,
    "singular": 48,
    "eigen": 16,
    "fits": 25,
    "transforms": 12,
    "series": 5,
    "roots": 14,
    "random": 2,
    "bilinear_grid": 31,
    "bicubic_grid": 31,
    "vectors": 17,
    "matrices": 26,
    "blas": 32,
    "triangles": 25,
    "systems": 27,
    "statistics": 23,
    "integration": 4,
}


def source(name: str, outputs: int = 1) -> str:
    """The program, and a weighted sum of what it gives out."""
    callbacks = INTEGRANDS if name in ("integration", "series", "random") else ""
    callbacks = CALLBACKS if name in ("minima", "nonlinear") else callbacks
    return f"""{START}{callbacks}
int all(const double* x, double* y) {{
  const double* start = y;
{PROGRAMS[name]}
  return (int)(y - start);
}}
void values(const double* x, double* y) {{ all(x, y); }}
double total(const double* x) {{
  double y[{outputs}], sum = 0;
  all(x, y);
  for (int i = 0; i < {outputs}; i++) sum += cos(i) * y[i];
  return sum;
}}
"""


def library(path: Path) -> Callable[[np.ndarray], np.ndarray]:
    """The program with GSL itself."""
    built = path.with_suffix(".so")
    flags = ["-shared", "-fPIC", "-O1", "-w", "-o", str(built), str(path), "-lgsl", "-lgslcblas", "-lm"]
    subprocess.run(["cc", *flags], check=True)
    function = ctypes.CDLL(str(built)).all

    def values(x: np.ndarray) -> np.ndarray:
        y = np.empty(400)
        return y[: function(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p))].copy()

    return values


def differences(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, direction: np.ndarray, h: float) -> np.ndarray:
    """Central differences of sixth order."""
    weights = ((1, 45), (2, -9), (3, 1))
    total = sum(w * (f(x + k * h * direction) - f(x - k * h * direction)) for k, w in weights)
    return np.asarray(total / (60 * h))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(write: Write, name: str) -> None:
    """The gradient against differences of the library's values, other derivatives against the gradient."""
    n = COUNTS.get(name, 15)
    x = np.random.default_rng(3).uniform(0.3, 1.2, n)
    reference = library(write(source(name), "reference.c"))
    expected = reference(x)
    path = write(source(name, expected.size), f"{name}.c")
    f = enzyme(path, "values", f"x[{n}] -> y[{expected.size}]", libraries=LIBRARIES)
    np.testing.assert_allclose(f(x), expected, rtol=1e-11, atol=1e-11)
    weights = np.cos(np.arange(expected.size))
    total = enzyme(path, "total", f"x[{n}] -> return", libraries=LIBRARIES)
    gradient = total.grad(x)
    # A fit ends where the sum of squares falls no further: at the root of rounding, which longer steps hide.
    step = 4e-2 if name == "nonlinear" else 1e-3
    slopes = np.array([weights @ differences(reference, x, e, step) for e in np.eye(n)])
    scale = np.abs(slopes).max()
    np.testing.assert_allclose(gradient / scale, slopes / scale, rtol=1e-6, atol=1e-7)
    direction = np.random.default_rng(4).uniform(-1, 1, n)
    np.testing.assert_allclose(total.jvp((x,), (direction,))[1], gradient @ direction, rtol=1e-9)
    second = differences(total.grad, x, direction, step)
    np.testing.assert_allclose(total.hvp(x, direction), second, rtol=1e-5, atol=1e-6 * np.abs(second).max())


NONSYMMETRIC = """
#include <gsl/gsl_eigen.h>
void eigenvalues(const double* x, double* re, double* im) {
  gsl_matrix* a = gsl_matrix_alloc(4, 4);
  for (int i = 0; i < 16; i++) gsl_matrix_set(a, i / 4, i % 4, x[i]);
  gsl_vector_complex* w = gsl_vector_complex_alloc(4);
  gsl_eigen_nonsymm_workspace* space = gsl_eigen_nonsymm_alloc(4);
  gsl_eigen_nonsymm(a, w, space);
  for (int i = 0; i < 4; i++) {
    gsl_complex z = gsl_vector_complex_get(w, i);
    re[i] = GSL_REAL(z);
    im[i] = GSL_IMAG(z);
  }
  gsl_eigen_nonsymm_free(space);
  gsl_vector_complex_free(w);
  gsl_matrix_free(a);
}
"""


def test_eigenvalues_of_a_matrix_that_is_not_symmetric(write: Write) -> None:
    """Against left and right eigenvectors; of a pair of complex numbers, too."""
    f = enzyme(write(NONSYMMETRIC, "nonsymm.c"), "eigenvalues", "x[16] -> re[4], im[4]", libraries=LIBRARIES)
    x = np.random.default_rng(5).uniform(-1, 1, 16)
    (re_, im), pull = f.vjp(x)
    assert np.abs(im).max() > 0.1
    weights = np.random.default_rng(6).uniform(-1, 1, 8)
    values, vectors = np.linalg.eig(x.reshape(4, 4))
    order = [int(np.abs(values - (a + 1j * b)).argmin()) for a, b in zip(re_, im, strict=True)]
    slopes = np.einsum("ki,jk->kij", np.linalg.inv(vectors), vectors)[order].reshape(4, 16)
    expected = weights[:4] @ slopes.real + weights[4:] @ slopes.imag
    np.testing.assert_allclose(pull((weights[:4], weights[4:]))[0], expected, rtol=1e-9)
    direction = np.random.default_rng(7).uniform(-1, 1, 16)
    _, (along_re, along_im) = f.jvp((x,), (direction,))
    np.testing.assert_allclose(along_re + 1j * along_im, slopes @ direction, rtol=1e-9)


def test_every_rule_is_tested() -> None:
    """By one of the programs."""
    text = START + NONSYMMETRIC + "".join(PROGRAMS.values())
    called = set(re.findall(r"\bgsl_\w+", text))
    first = ("complex", "factor", "fft", "integration", "interp", "interp2d", "linalg")
    files = (*first, "multimin", "nlinear", "numeric", "stats")
    rules = "".join((RULES / f"gsl_{file}.c").read_text() for file in files)
    assert set(re.findall(r"^FFGRAD_REPLACES\((\w+),", rules, re.MULTILINE)) - called == set()
