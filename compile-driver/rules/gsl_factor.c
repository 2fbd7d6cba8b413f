/* Orthogonal factorisations of GSL: QR by Householder's reflections and the linear fits made of it as code that Enzyme differentiates; singular
 * values and eigenvalues of symmetric matrices by GSL itself, with derivatives in closed form. Where these do not exist (equal singular values or
 * eigenvalues on whose vectors something depends) they are not-a-number.
 *
 * Source: GSL's reference manual for names, arguments and how factors are stored; Golub and Van Loan, "Matrix Computations", section 5.1, for
 * Householder's reflections; Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008), sections
 * 3.1 and 3.2; Townsend, "Differentiating the singular value decomposition" (2016), for matrices that are not square.
 */
#include <ffgrad/derivatives.h>
#include <ffgrad/rules/gsl_vector.h>
#include <ffgrad/rules/values.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_NEEDS(values.c)
FFGRAD_REPLACES(gsl_eigen_symm, ffgrad_gsl_eigen_symm)
FFGRAD_REPLACES(gsl_eigen_symm_alloc, ffgrad_gsl_eigen_symm_alloc)
FFGRAD_REPLACES(gsl_eigen_symm_free, ffgrad_gsl_eigen_symm_free)
FFGRAD_REPLACES(gsl_eigen_symmv, ffgrad_gsl_eigen_symmv)
FFGRAD_REPLACES(gsl_eigen_symmv_alloc, ffgrad_gsl_eigen_symmv_alloc)
FFGRAD_REPLACES(gsl_eigen_symmv_free, ffgrad_gsl_eigen_symmv_free)
FFGRAD_REPLACES(gsl_eigen_symmv_sort, ffgrad_gsl_eigen_symmv_sort)
FFGRAD_REPLACES(gsl_linalg_HH_solve, ffgrad_gsl_linalg_HH_solve)
FFGRAD_REPLACES(gsl_linalg_QRPT_QRsolve, ffgrad_gsl_linalg_QRPT_QRsolve)
FFGRAD_REPLACES(gsl_linalg_QRPT_Rsolve, ffgrad_gsl_linalg_QRPT_Rsolve)
FFGRAD_REPLACES(gsl_linalg_QRPT_Rsvx, ffgrad_gsl_linalg_QRPT_Rsvx)
FFGRAD_REPLACES(gsl_linalg_QRPT_decomp, ffgrad_gsl_linalg_QRPT_decomp)
FFGRAD_REPLACES(gsl_linalg_QRPT_decomp2, ffgrad_gsl_linalg_QRPT_decomp2)
FFGRAD_REPLACES(gsl_linalg_QRPT_lssolve, ffgrad_gsl_linalg_QRPT_lssolve)
FFGRAD_REPLACES(gsl_linalg_QRPT_solve, ffgrad_gsl_linalg_QRPT_solve)
FFGRAD_REPLACES(gsl_linalg_QRPT_svx, ffgrad_gsl_linalg_QRPT_svx)
FFGRAD_REPLACES(gsl_linalg_QR_QTvec, ffgrad_gsl_linalg_QR_QTvec)
FFGRAD_REPLACES(gsl_linalg_QR_Qvec, ffgrad_gsl_linalg_QR_Qvec)
FFGRAD_REPLACES(gsl_linalg_QR_Rsolve, ffgrad_gsl_linalg_QR_Rsolve)
FFGRAD_REPLACES(gsl_linalg_QR_Rsvx, ffgrad_gsl_linalg_QR_Rsvx)
FFGRAD_REPLACES(gsl_linalg_QR_decomp, ffgrad_gsl_linalg_QR_decomp)
FFGRAD_REPLACES(gsl_linalg_QR_lssolve, ffgrad_gsl_linalg_QR_lssolve)
FFGRAD_REPLACES(gsl_linalg_QR_solve, ffgrad_gsl_linalg_QR_solve)
FFGRAD_REPLACES(gsl_linalg_QR_svx, ffgrad_gsl_linalg_QR_svx)
FFGRAD_REPLACES(gsl_linalg_QR_unpack, ffgrad_gsl_linalg_QR_unpack)
FFGRAD_REPLACES(gsl_linalg_SV_decomp, ffgrad_gsl_linalg_SV_decomp)
FFGRAD_REPLACES(gsl_linalg_SV_decomp_jacobi, ffgrad_gsl_linalg_SV_decomp_jacobi)
FFGRAD_REPLACES(gsl_linalg_SV_decomp_mod, ffgrad_gsl_linalg_SV_decomp_mod)
FFGRAD_REPLACES(gsl_linalg_SV_solve, ffgrad_gsl_linalg_SV_solve)
FFGRAD_REPLACES(gsl_multifit_linear, ffgrad_gsl_multifit_linear)
FFGRAD_REPLACES(gsl_multifit_linear_alloc, ffgrad_gsl_multifit_linear_alloc)
FFGRAD_REPLACES(gsl_multifit_linear_est, ffgrad_gsl_multifit_linear_est)
FFGRAD_REPLACES(gsl_multifit_linear_free, ffgrad_gsl_multifit_linear_free)
FFGRAD_REPLACES(gsl_multifit_linear_residuals, ffgrad_gsl_multifit_linear_residuals)
FFGRAD_REPLACES(gsl_multifit_wlinear, ffgrad_gsl_multifit_wlinear)

#define G(name) ffgrad_gsl_##name
#define EACH(i, n) for (size_t i = 0; i < (n); i++)

/* GSL's own, with what they need to work: objects are integers here, because nothing of the program's is kept in them. */
#define KEPT_NOWHERE __attribute__((noescape))
extern int gsl_linalg_SV_decomp(matrix *KEPT_NOWHERE, matrix *KEPT_NOWHERE, vector *KEPT_NOWHERE, vector *KEPT_NOWHERE);
extern int gsl_linalg_SV_decomp_jacobi(matrix *KEPT_NOWHERE, matrix *KEPT_NOWHERE, vector *KEPT_NOWHERE);
extern int gsl_linalg_SV_decomp_mod(matrix *KEPT_NOWHERE, matrix *KEPT_NOWHERE, matrix *KEPT_NOWHERE, vector *KEPT_NOWHERE,
                                    vector *KEPT_NOWHERE);
extern long gsl_eigen_symm_alloc(size_t);
extern void gsl_eigen_symm_free(long);
extern int gsl_eigen_symm(matrix *KEPT_NOWHERE, vector *KEPT_NOWHERE, long);
extern long gsl_eigen_symmv_alloc(size_t);
extern void gsl_eigen_symmv_free(long);
extern int gsl_eigen_symmv(matrix *KEPT_NOWHERE, vector *KEPT_NOWHERE, matrix *KEPT_NOWHERE, long);
extern long gsl_multifit_linear_alloc(size_t, size_t);
extern void gsl_multifit_linear_free(long);
extern int gsl_multifit_linear(const matrix *KEPT_NOWHERE, const vector *KEPT_NOWHERE, vector *KEPT_NOWHERE, matrix *KEPT_NOWHERE,
                               double *KEPT_NOWHERE, long);
extern int gsl_multifit_wlinear(const matrix *KEPT_NOWHERE, const vector *KEPT_NOWHERE, const vector *KEPT_NOWHERE,
                                vector *KEPT_NOWHERE, matrix *KEPT_NOWHERE, double *KEPT_NOWHERE, long);

/* QR: the reflection of column k is I - tau v v^T, with v below the diagonal and 1 on it. */
static inline double reflection(matrix *a, size_t k) {
  double below = 0, alpha = M(a, k, k);
  for (size_t i = k + 1; i < a->size1; i++) below += M(a, i, k) * M(a, i, k);
  if (below == 0) return 0;
  double beta = alpha >= 0 ? -sqrt(alpha * alpha + below) : sqrt(alpha * alpha + below);
  for (size_t i = k + 1; i < a->size1; i++) M(a, i, k) /= alpha - beta;
  M(a, k, k) = beta;
  return (beta - alpha) / beta;
}
int G(linalg_QR_decomp)(matrix *a, vector *tau) {
  size_t m = a->size1, n = a->size2;
  EACH(k, m < n ? m : n) {
    double factor = reflection(a, k);
    V(tau, k) = factor;
    for (size_t j = k + 1; j < n; j++) {
      double sum = M(a, k, j);
      for (size_t i = k + 1; i < m; i++) sum += M(a, i, k) * M(a, i, j);
      M(a, k, j) -= factor * sum;
      for (size_t i = k + 1; i < m; i++) M(a, i, j) -= factor * sum * M(a, i, k);
    }
  }
  return 0;
}
static inline void reflect(const matrix *qr, const vector *tau, size_t k, vector *v) {
  double sum = V(v, k);
  for (size_t i = k + 1; i < qr->size1; i++) sum += M(qr, i, k) * V(v, i);
  sum *= V(tau, k);
  V(v, k) -= sum;
  for (size_t i = k + 1; i < qr->size1; i++) V(v, i) -= sum * M(qr, i, k);
}
static inline size_t reflections(const matrix *qr) { return qr->size1 < qr->size2 ? qr->size1 : qr->size2; }
int G(linalg_QR_QTvec)(const matrix *qr, const vector *tau, vector *v) {
  EACH(k, reflections(qr)) reflect(qr, tau, k, v);
  return 0;
}
int G(linalg_QR_Qvec)(const matrix *qr, const vector *tau, vector *v) {
  size_t count = reflections(qr);
  EACH(k, count) reflect(qr, tau, count - 1 - k, v);
  return 0;
}
int G(linalg_QR_Rsvx)(const matrix *qr, vector *x) {
  size_t n = qr->size2;
  EACH(r, n) {
    size_t i = n - 1 - r;
    double sum = V(x, i);
    for (size_t j = i + 1; j < n; j++) sum -= M(qr, i, j) * V(x, j);
    V(x, i) = sum / M(qr, i, i);
  }
  return 0;
}
int G(linalg_QR_Rsolve)(const matrix *qr, const vector *b, vector *x) {
  EACH(i, x->size) V(x, i) = V(b, i);
  return G(linalg_QR_Rsvx)(qr, x);
}
int G(linalg_QR_svx)(const matrix *qr, const vector *tau, vector *x) {
  G(linalg_QR_QTvec)(qr, tau, x);
  return G(linalg_QR_Rsvx)(qr, x);
}
int G(linalg_QR_solve)(const matrix *qr, const vector *tau, const vector *b, vector *x) {
  EACH(i, x->size) V(x, i) = V(b, i);
  return G(linalg_QR_svx)(qr, tau, x);
}
int G(linalg_QR_lssolve)(const matrix *qr, const vector *tau, const vector *b, vector *x, vector *residual) {
  EACH(i, residual->size) V(residual, i) = V(b, i);
  G(linalg_QR_QTvec)(qr, tau, residual);
  G(linalg_QR_Rsolve)(qr, residual, x);
  EACH(i, qr->size2) V(residual, i) = 0;
  return G(linalg_QR_Qvec)(qr, tau, residual);
}
int G(linalg_QR_unpack)(const matrix *qr, const vector *tau, matrix *q, matrix *r) {
  EACH(j, q->size2) {
    vector column = {q->size1, q->tda, q->data + j, NULL, 0};
    EACH(i, q->size1) V(&column, i) = i == j;
    G(linalg_QR_Qvec)(qr, tau, &column);
  }
  EACH(i, r->size1) EACH(j, r->size2) M(r, i, j) = i <= j ? M(qr, i, j) : 0;
  return 0;
}
/* QR with columns exchanged, A P = Q R: the column that is longest below the rows that are done comes next. */
typedef struct {
  size_t size, *data;
} permutation;
int G(linalg_QRPT_decomp)(matrix *a, vector *tau, permutation *p, int *sign, vector *norm) {
  size_t m = a->size1, n = a->size2;
  *sign = 1;
  EACH(j, n) p->data[j] = j;
  EACH(k, m < n ? m : n) {
    size_t best = k;
    double longest = -1;
    for (size_t j = k; j < n; j++) {
      double sum = 0;
      for (size_t i = k; i < m; i++) sum += ffgrad_constant(M(a, i, j)) * ffgrad_constant(M(a, i, j));
      V(norm, j) = sqrt(sum);
      /* Not for what rounding makes longer. */
      if (V(norm, j) > longest * (1 + 1e-14)) longest = V(norm, j), best = j;
    }
    if (best != k) {
      size_t kept = p->data[k];
      p->data[k] = p->data[best];
      p->data[best] = kept;
      *sign = -*sign;
      EACH(i, m) {
        double x = M(a, i, k);
        M(a, i, k) = M(a, i, best);
        M(a, i, best) = x;
      }
    }
    double factor = reflection(a, k);
    V(tau, k) = factor;
    for (size_t j = k + 1; j < n; j++) {
      double sum = M(a, k, j);
      for (size_t i = k + 1; i < m; i++) sum += M(a, i, k) * M(a, i, j);
      M(a, k, j) -= factor * sum;
      for (size_t i = k + 1; i < m; i++) M(a, i, j) -= factor * sum * M(a, i, k);
    }
  }
  return 0;
}
int G(linalg_QRPT_decomp2)(const matrix *a, matrix *q, matrix *r, vector *tau, permutation *p, int *sign, vector *norm) {
  matrix copy = {a->size1, a->size2, a->size2, malloc((a->size1 * a->size2 + 1) * sizeof(double)), NULL, 0};
  EACH(i, a->size1) EACH(j, a->size2) M(&copy, i, j) = M(a, i, j);
  G(linalg_QRPT_decomp)(&copy, tau, p, sign, norm);
  G(linalg_QR_unpack)(&copy, tau, q, r);
  free(copy.data);
  return 0;
}
/* Solves R P^T x = b in place. */
int G(linalg_QRPT_Rsvx)(const matrix *qr, const permutation *p, vector *x) {
  size_t n = qr->size2;
  vector y = {n, 1, malloc((n + 1) * sizeof(double)), NULL, 0};
  EACH(i, n) V(&y, i) = V(x, i);
  G(linalg_QR_Rsvx)(qr, &y);
  EACH(i, n) V(x, p->data[i]) = V(&y, i);
  free(y.data);
  return 0;
}
int G(linalg_QRPT_Rsolve)(const matrix *qr, const permutation *p, const vector *b, vector *x) {
  EACH(i, x->size) V(x, i) = V(b, i);
  return G(linalg_QRPT_Rsvx)(qr, p, x);
}
int G(linalg_QRPT_svx)(const matrix *qr, const vector *tau, const permutation *p, vector *x) {
  G(linalg_QR_QTvec)(qr, tau, x);
  return G(linalg_QRPT_Rsvx)(qr, p, x);
}
int G(linalg_QRPT_solve)(const matrix *qr, const vector *tau, const permutation *p, const vector *b, vector *x) {
  EACH(i, x->size) V(x, i) = V(b, i);
  return G(linalg_QRPT_svx)(qr, tau, p, x);
}
int G(linalg_QRPT_QRsolve)(const matrix *q, const matrix *r, const permutation *p, const vector *b, vector *x) {
  EACH(i, x->size) {
    V(x, i) = 0;
    EACH(k, q->size1) V(x, i) += M(q, k, i) * V(b, k);
  }
  return G(linalg_QRPT_Rsvx)(r, p, x);
}
int G(linalg_QRPT_lssolve)(const matrix *qr, const vector *tau, const permutation *p, const vector *b, vector *x, vector *residual) {
  EACH(i, residual->size) V(residual, i) = V(b, i);
  G(linalg_QR_QTvec)(qr, tau, residual);
  G(linalg_QRPT_Rsolve)(qr, p, residual, x);
  EACH(i, qr->size2) V(residual, i) = 0;
  return G(linalg_QR_Qvec)(qr, tau, residual);
}
/* The matrix is overwritten, as by GSL, whose own numbers there are of no meaning. */
int G(linalg_HH_solve)(matrix *a, const vector *b, vector *x) {
  vector tau = {a->size2, 1, malloc((a->size2 + 1) * sizeof(double)), NULL, 0};
  G(linalg_QR_decomp)(a, &tau);
  G(linalg_QR_solve)(a, &tau, b, x);
  free(tau.data);
  return 0;
}

/* Small matrices in rows, which belong to one call. */
static double *room(size_t count) { return calloc(count + 1, sizeof(double)); }
/* to = A^T B where `first`, else A B, else A B^T where `second`; m rows, n columns, k terms */
static void times(int first, int second, size_t m, size_t n, size_t k, const double *a, const double *b, double *to) {
  EACH(i, m) EACH(j, n) {
    double sum = 0;
    EACH(l, k) sum += a[first ? l * m + i : i * k + l] * b[second ? j * k + l : l * n + j];
    to[i * n + j] = sum;
  }
}
/* x over a difference of squares or of numbers that may be none; what it multiplies must not depend on it then. */
static double over_gap(double x, double gap, double largest) {
  return fabs(gap) > 64 * 2.2204460492503131e-16 * largest ? x / gap : x != 0 ? NAN : 0;
}

/* A = U diag(s) V^T, of m >= n rows; U takes the place of A. */
enum { GOLUB, JACOBI, MODIFIED };
int ffgrad_gsl_sv(int kind, size_t m, size_t n, double *a, size_t tda, double *v, size_t tdv, double *s, size_t stride) {
  double *work = room(n + n * n);
  matrix u = {m, n, tda, a, NULL, 0}, w = {n, n, tdv, v, NULL, 0}, x = {n, n, n, work + n, NULL, 0};
  vector values = {n, stride, s, NULL, 0}, other = {n, 1, work, NULL, 0};
  int status = kind == GOLUB    ? gsl_linalg_SV_decomp(&u, &w, &values, &other)
               : kind == JACOBI ? gsl_linalg_SV_decomp_jacobi(&u, &w, &values)
                                : gsl_linalg_SV_decomp_mod(&u, &x, &w, &values, &other);
  free(work);
  return status;
}
static void gather(size_t m, size_t n, const double *from, size_t tda, double *to) {
  EACH(i, m) EACH(j, n) to[i * n + j] = from[i * tda + j];
}
int ffgrad_gsl_sv_fwd(int kind, size_t m, size_t n, double *a, double *da, size_t tda, double *v, double *dv, size_t tdv, double *s,
                      double *ds, size_t stride) {
  double *g = room(m * n), *u = room(m * n), *w = room(n * n), *p = room(n * n), *q = room(n * n), *t = room(m * n), *k = room(n * n);
  if (da) gather(m, n, da, tda, g);
  int status = ffgrad_gsl_sv(kind, m, n, a, tda, v, tdv, s, stride);
  gather(m, n, a, tda, u);
  gather(n, n, v, tdv, w);
  times(0, 0, m, n, n, g, w, t);
  times(1, 0, n, n, m, u, t, p);
  double most = n ? s[0] * s[0] : 0;
  EACH(i, n) EACH(j, n) {
    double si = s[i * stride], sj = s[j * stride], left = p[i * n + j] * sj + si * p[j * n + i];
    q[i * n + j] = i == j ? 0 : over_gap(left, sj * sj - si * si, most);
    k[i * n + j] = i == j ? 0 : over_gap(si * p[i * n + j] + p[j * n + i] * sj, sj * sj - si * si, most);
  }
  if (ds) EACH(i, n) ds[i * stride] = p[i * n + i];
  EACH(i, m) EACH(j, n) {
    double inside = 0, turned = 0;
    EACH(l, n) inside += u[i * n + l] * p[l * n + j], turned += u[i * n + l] * q[l * n + j];
    if (da) da[i * tda + j] = turned + (m > n ? (t[i * n + j] - inside) / s[j * stride] : 0);
  }
  times(0, 0, n, n, n, w, k, p);
  if (dv) EACH(i, n) EACH(j, n) dv[i * tdv + j] = p[i * n + j];
  free(g), free(u), free(w), free(p), free(q), free(t), free(k);
  return status;
}
void *ffgrad_gsl_sv_save(int kind, size_t m, size_t n, double *a, size_t tda, double *v, size_t tdv, double *s, size_t stride,
                         int *status) {
  *status = ffgrad_gsl_sv(kind, m, n, a, tda, v, tdv, s, stride);
  double *saved = room(m * n + n * n + n);
  gather(m, n, a, tda, saved);
  gather(n, n, v, tdv, saved + m * n);
  EACH(i, n) saved[m * n + n * n + i] = s[i * stride];
  return saved;
}
void ffgrad_gsl_sv_rev(int kind, size_t m, size_t n, double *a, double *da, size_t tda, double *v, double *dv, size_t tdv, double *s,
                       double *ds, size_t stride, void *saved) {
  const double *u = saved, *w = u + m * n, *own = w + n * n;
  double *g = room(m * n), *h = room(n * n), *p = room(n * n), *q = room(n * n), *t = room(m * n), *k = room(m * n);
  if (da) gather(m, n, da, tda, g);
  if (dv) gather(n, n, dv, tdv, h);
  times(1, 0, n, n, m, u, g, p);
  times(1, 0, n, n, n, w, h, q);
  double most = n ? own[0] * own[0] : 0;
  EACH(i, m) EACH(j, n) {
    double inside = 0;
    EACH(l, n) inside += u[i * n + l] * p[l * n + j];
    t[i * n + j] = m > n ? (g[i * n + j] - inside) / own[j] : 0;
  }
  EACH(i, n) EACH(j, n) {
    double gap = own[j] * own[j] - own[i] * own[i];
    double left = i == j ? 0 : over_gap(p[i * n + j] - p[j * n + i], gap, most) * own[j];
    double right = i == j ? 0 : over_gap(q[i * n + j] - q[j * n + i], gap, most) * own[i];
    h[i * n + j] = left + right + (i == j && ds ? ds[i * stride] : 0);
  }
  times(0, 0, m, n, n, u, h, k);
  EACH(i, m * n) k[i] += t[i];
  times(0, 1, m, n, n, k, w, g);
  if (da) EACH(i, m) EACH(j, n) da[i * tda + j] = g[i * n + j];
  if (dv) EACH(i, n) EACH(j, n) dv[i * tdv + j] = 0;
  if (ds) EACH(i, n) ds[i * stride] = 0;
  free(g), free(h), free(p), free(q), free(t), free(k), free(saved);
}
FFGRAD_DERIVATIVES_SAVING(ffgrad_gsl_sv, ffgrad_gsl_sv_fwd, ffgrad_gsl_sv_rev, ffgrad_gsl_sv_save);

static inline int singular(int kind, matrix *a, matrix *v, vector *s) {
  return ffgrad_gsl_sv(kind, a->size1, a->size2, a->data, a->tda, v->data, v->tda, s->data, s->stride);
}
int G(linalg_SV_decomp)(matrix *a, matrix *v, vector *s, vector *work) { return singular(GOLUB, a, v, s); }
int G(linalg_SV_decomp_jacobi)(matrix *a, matrix *v, vector *s) { return singular(JACOBI, a, v, s); }
int G(linalg_SV_decomp_mod)(matrix *a, matrix *x, matrix *v, vector *s, vector *work) { return singular(MODIFIED, a, v, s); }
int G(linalg_SV_solve)(const matrix *u, const matrix *v, const vector *s, const vector *b, vector *x) {
  EACH(i, x->size) V(x, i) = 0;
  EACH(k, s->size) {
    double sum = 0;
    EACH(i, u->size1) sum += M(u, i, k) * V(b, i);
    if (V(s, k) == 0) continue;
    EACH(i, x->size) V(x, i) += M(v, i, k) * sum / V(s, k);
  }
  return 0;
}

/* A = V diag(w) V^T, of which the lower triangle is read and overwritten. Without `vectors` GSL gives the eigenvalues in another order, to which
 * the vectors are put here. */
int ffgrad_gsl_symm(int vectors, size_t n, double *a, size_t tda, double *w, size_t stride, double *v, size_t tdv) {
  matrix full = {n, n, tda, a, NULL, 0}, to = {n, n, tdv, v, NULL, 0};
  vector values = {n, stride, w, NULL, 0};
  long work = vectors ? gsl_eigen_symmv_alloc(n) : gsl_eigen_symm_alloc(n);
  int status = vectors ? gsl_eigen_symmv(&full, &values, &to, work) : gsl_eigen_symm(&full, &values, work);
  if (vectors) gsl_eigen_symmv_free(work);
  else gsl_eigen_symm_free(work);
  return status;
}
/* The vectors of eigenvalues in the order of `w`. Through the function with a derivative, so that there are second ones. */
static void vectors_of(size_t n, double *full, const double *w, size_t stride, double *v) {
  double *own = room(n), *all = room(n * n);
  size_t *left = malloc((2 * n + 1) * sizeof(size_t)), *right = left + n;
  ffgrad_gsl_symm(1, n, full, n, own, 1, all, n);
  EACH(i, n) {
    size_t a = 0, b = 0;
    EACH(k, n) {
      a += own[k] < own[i] || (own[k] == own[i] && k < i);
      b += w[k * stride] < w[i * stride] || (w[k * stride] == w[i * stride] && k < i);
    }
    left[a] = i;
    right[b] = i;
  }
  EACH(k, n) EACH(i, n) v[i * n + right[k]] = all[i * n + left[k]];
  free(own), free(all), free(left);
}
/* The eigenvalues, then the vectors in rows. */
static double *decomposed(int vectors, size_t n, double *a, size_t tda, double *w, size_t stride, double *v, size_t tdv, int *status) {
  double *saved = room(n + n * n), *copy = room(n * n);
  gather(n, n, a, tda, copy);
  *status = ffgrad_gsl_symm(vectors, n, a, tda, w, stride, v, tdv);
  EACH(i, n) saved[i] = w[i * stride];
  if (vectors) gather(n, n, v, tdv, saved + n);
  else vectors_of(n, copy, w, stride, saved + n);
  free(copy);
  return saved;
}
static double largest(size_t n, const double *w) {
  double most = 0;
  EACH(i, n) most = fmax(most, fabs(w[i]));
  return most;
}
int ffgrad_gsl_symm_fwd(int vectors, size_t n, double *a, double *da, size_t tda, double *w, double *dw, size_t stride, double *v,
                        double *dv, size_t tdv) {
  double *g = room(n * n), *p = room(n * n), *q = room(n * n);
  if (da) EACH(i, n) EACH(j, n) g[i * n + j] = i >= j ? da[i * tda + j] : da[j * tda + i];
  int status;
  double *saved = decomposed(vectors, n, a, tda, w, stride, v, tdv, &status), *own = saved, *u = saved + n;
  times(0, 0, n, n, n, g, u, q);
  times(1, 0, n, n, n, u, q, p);
  double most = largest(n, own);
  if (dw) EACH(i, n) dw[i * stride] = p[i * n + i];
  if (vectors && dv) {
    EACH(i, n) EACH(j, n) p[i * n + j] = i == j ? 0 : over_gap(p[i * n + j], own[j] - own[i], most);
    times(0, 0, n, n, n, u, p, q);
    EACH(i, n) EACH(j, n) dv[i * tdv + j] = q[i * n + j];
  }
  if (da) EACH(i, n) EACH(j, i + 1) da[i * tda + j] = 0;
  free(g), free(p), free(q), free(saved);
  return status;
}
void *ffgrad_gsl_symm_save(int vectors, size_t n, double *a, size_t tda, double *w, size_t stride, double *v, size_t tdv, int *status) {
  return decomposed(vectors, n, a, tda, w, stride, v, tdv, status);
}
void ffgrad_gsl_symm_rev(int vectors, size_t n, double *a, double *da, size_t tda, double *w, double *dw, size_t stride, double *v,
                         double *dv, size_t tdv, void *saved) {
  const double *own = saved, *u = own + n;
  double *g = room(n * n), *p = room(n * n), *q = room(n * n), most = largest(n, own);
  if (vectors && dv) {
    gather(n, n, dv, tdv, g);
    times(1, 0, n, n, n, u, g, q);
    EACH(i, n) EACH(j, n) p[i * n + j] = i == j ? 0 : over_gap((q[i * n + j] - q[j * n + i]) / 2, own[j] - own[i], most);
  }
  if (dw) EACH(i, n) p[i * n + i] += dw[i * stride];
  times(0, 0, n, n, n, u, p, q);
  times(0, 1, n, n, n, q, u, g);
  if (da) EACH(i, n) EACH(j, i + 1) da[i * tda + j] = i == j ? g[i * n + i] : g[i * n + j] + g[j * n + i];
  if (dw) EACH(i, n) dw[i * stride] = 0;
  if (vectors && dv) EACH(i, n) EACH(j, n) dv[i * tdv + j] = 0;
  free(g), free(p), free(q), free(saved);
}
FFGRAD_DERIVATIVES_SAVING(ffgrad_gsl_symm, ffgrad_gsl_symm_fwd, ffgrad_gsl_symm_rev, ffgrad_gsl_symm_save);

/* The caller's workspaces are not used: GSL is given others. */
static inline void *unused(void) {
  int *made = malloc(sizeof(int));
  *made = 0;
  return made;
}
void *G(eigen_symm_alloc)(size_t n) { return unused(); }
void *G(eigen_symmv_alloc)(size_t n) { return unused(); }
void G(eigen_symm_free)(void *work) { free(work); }
void G(eigen_symmv_free)(void *work) { free(work); }
int G(eigen_symm)(matrix *a, vector *w, void *work) {
  return ffgrad_gsl_symm(0, w->size, a->data, a->tda, w->data, w->stride, a->data, a->tda);
}
int G(eigen_symmv)(matrix *a, vector *w, matrix *v, void *work) {
  return ffgrad_gsl_symm(1, w->size, a->data, a->tda, w->data, w->stride, v->data, v->tda);
}
/* 0 and 1: by value, up and down; 2 and 3: by absolute value. */
int G(eigen_symmv_sort)(vector *w, matrix *v, int order) {
  EACH(i, w->size) {
    size_t best = i;
    for (size_t j = i + 1; j < w->size; j++) {
      double x = order < 2 ? V(w, j) : fabs(V(w, j)), y = order < 2 ? V(w, best) : fabs(V(w, best));
      if (order % 2 ? x > y : x < y) best = j;
    }
    if (best == i) continue;
    double value = V(w, i);
    V(w, i) = V(w, best);
    V(w, best) = value;
    EACH(k, v->size1) {
      double part = M(v, k, i);
      M(v, k, i) = M(v, k, best);
      M(v, k, best) = part;
    }
  }
  return 0;
}

/* Linear fits: the numbers are GSL's, the derivatives those of the fit by QR, which GSL's have to come to: columns that depend on one another have
 * no such derivative. `out`: the parameters, their covariance, and the sum of squares. */
int ffgrad_gsl_fit(size_t m, size_t n, const double *x, const double *weight, const double *y, double *out) {
  matrix design = {m, n, n, (double *)x, NULL, 0}, covariance = {n, n, n, out + n, NULL, 0};
  vector values = {m, 1, (double *)y, NULL, 0}, weights = {m, 1, (double *)weight, NULL, 0}, parameters = {n, 1, out, NULL, 0};
  long work = gsl_multifit_linear_alloc(m, n);
  int status = weight ? gsl_multifit_wlinear(&design, &weights, &values, &parameters, &covariance, out + n + n * n, work)
                      : gsl_multifit_linear(&design, &values, &parameters, &covariance, out + n + n * n, work);
  gsl_multifit_linear_free(work);
  return status;
}
int ffgrad_gsl_fit_fwd(size_t m, size_t n, const double *x, double *dx, const double *weight, double *dweight, const double *y,
                       double *dy, double *out, double *dout) {
  if (dout) memset(dout, 0, (n + n * n + 1) * sizeof(double));
  return ffgrad_gsl_fit(m, n, x, weight, y, out);
}
void ffgrad_gsl_fit_rev(size_t m, size_t n, const double *x, double *dx, const double *weight, double *dweight, const double *y,
                        double *dy, double *out, double *dout) {
  if (dout) memset(dout, 0, (n + n * n + 1) * sizeof(double));
}
FFGRAD_DERIVATIVES(ffgrad_gsl_fit, ffgrad_gsl_fit_fwd, ffgrad_gsl_fit_rev);

/* One number with the derivative of another, which has to be that number. */
static inline double same(double value, double like, double scale) {
  double gap = ffgrad_constant(fabs(value - like));
  return ffgrad_value(value, gap <= 1e-6 * scale ? like : like * NAN);
}
static inline int fit(const matrix *x, const vector *w, const vector *y, vector *c, matrix *cov, double *chisq) {
  size_t m = x->size1, n = x->size2;
  double *plain = malloc((2 * m * n + 4 * m + 4 * n + 2 * n * n + 2) * sizeof(double));
  double *values = plain + m * n, *scaled = values + m, *right = scaled + m * n, *weights = right + m, *rest = weights + m;
  double *tau = rest + m, *solution = tau + n, *inverse = solution + n, *out = inverse + n * n;
  EACH(i, m) {
    double root = w ? sqrt(V(w, i)) : 1;
    values[i] = V(y, i);
    weights[i] = w ? V(w, i) : 1;
    right[i] = root * V(y, i);
    EACH(j, n) plain[i * n + j] = M(x, i, j), scaled[i * n + j] = root * M(x, i, j);
  }
  int status = ffgrad_gsl_fit(m, n, plain, w ? weights : NULL, values, out);
  matrix qr = {m, n, n, scaled, NULL, 0};
  vector factors = {n, 1, tau, NULL, 0}, b = {m, 1, right, NULL, 0}, s = {n, 1, solution, NULL, 0}, r = {m, 1, rest, NULL, 0};
  G(linalg_QR_decomp)(&qr, &factors);
  G(linalg_QR_lssolve)(&qr, &factors, &b, &s, &r);
  double sum = 0, most = 0, widest = 0;
  EACH(i, m) sum += rest[i] * rest[i];
  /* (R^T R)^-1 = R^-1 R^-T: row i of R^-1 is found column by column. */
  EACH(j, n) {
    vector column = {n, n, inverse + j, NULL, 0};
    EACH(i, n) V(&column, i) = i == j;
    G(linalg_QR_Rsvx)(&qr, &column);
  }
  EACH(i, n) most = fmax(most, ffgrad_constant(fabs(out[i]))), widest = fmax(widest, ffgrad_constant(fabs(out[n + i * n + i])));
  EACH(i, n) V(c, i) = same(out[i], solution[i], most);
  EACH(i, n) EACH(j, n) {
    double product = 0;
    EACH(k, n) product += inverse[i * n + k] * inverse[j * n + k];
    M(cov, i, j) = same(out[n + i * n + j], w ? product : product * sum / (double)(m - n), widest);
  }
  *chisq = same(out[n + n * n], sum, fmax(ffgrad_constant(out[n + n * n]), 1e-12));
  free(plain);
  return status;
}
void *G(multifit_linear_alloc)(size_t m, size_t n) { return unused(); }
void G(multifit_linear_free)(void *work) { free(work); }
int G(multifit_linear)(const matrix *x, const vector *y, vector *c, matrix *cov, double *chisq, void *work) {
  return fit(x, NULL, y, c, cov, chisq);
}
int G(multifit_wlinear)(const matrix *x, const vector *w, const vector *y, vector *c, matrix *cov, double *chisq, void *work) {
  return fit(x, w, y, c, cov, chisq);
}
int G(multifit_linear_est)(const vector *x, const vector *c, const matrix *cov, double *y, double *y_err) {
  double sum = 0, square = 0;
  EACH(i, x->size) sum += V(x, i) * V(c, i);
  EACH(i, x->size) EACH(j, x->size) square += V(x, i) * M(cov, i, j) * V(x, j);
  *y = sum;
  *y_err = sqrt(square);
  return 0;
}
int G(multifit_linear_residuals)(const matrix *x, const vector *y, const vector *c, vector *r) {
  EACH(i, y->size) {
    double sum = V(y, i);
    EACH(j, c->size) sum -= M(x, i, j) * V(c, j);
    V(r, i) = sum;
  }
  return 0;
}
