"""Programs that use GSL's factorisations, eigenvalues and linear fits, as bodies of a C function.

``test_numpy_gsl_programs.py`` compiles and compares them; the macros are those of ``gsl_arrays.START``.
"""

from __future__ import annotations

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
PROGRAMS = {
    "orthogonal": ORTHOGONAL,
    "pivoted": PIVOTED,
    "singular": SINGULAR,
    "eigen": EIGEN,
    "fits": FITS,
}
