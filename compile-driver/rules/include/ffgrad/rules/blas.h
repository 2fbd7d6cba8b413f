/* BLAS in one precision: T is the type, B(x) the name of our function, F(x) that of the library's.
 *
 * Each operation is a function with arguments by value, columns first in memory, that calls the library, and its
 * derivatives; the names that programs use (cblas_dgemm, dgemm_) are thin layers over it in blas_d.c and blas_s.c. The
 * derivatives call these functions again, not the library, so that they can be differentiated themselves.
 *
 * What a reverse derivative reads it gets from its saving function: the caller may overwrite everything in between.
 *
 * Source: for the bilinear operations the product rule; Giles, "Collected matrix derivative results for forward and
 * reverse mode algorithmic differentiation" (2008), sections 2.1 and 2.2.2, for gemm and trsm.
 */
#include <ffgrad/derivatives.h>
#include <math.h>
#include <stdlib.h>

/* The first element of a vector: with a negative step it stands last in memory. */
static inline int B(first)(int n, int step) { return step < 0 ? (1 - n) * step : 0; }

static inline T *B(room)(long n) { return malloc((n > 0 ? n : 1) * sizeof(T)); }

/* Copies a vector to consecutive memory; returns what follows the copy. */
static inline T *B(keep)(T *to, int n, const T *x, int step) {
  long at = B(first)(n, step);
  for (int i = 0; i < n; i++) to[i] = x[at + (long)i * step];
  return to + n;
}

/* Copies a matrix to consecutive columns; returns what follows the copy. */
static inline T *B(keep_matrix)(T *to, int m, int n, const T *a, int lda) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) to[i + (long)j * m] = a[i + (long)j * lda];
  return to + (long)m * n;
}

/* to += factor * from */
static inline void B(add_matrix)(T *to, int ldt, int m, int n, T factor, const T *from, int ldf) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) to[i + (long)j * ldt] += factor * from[i + (long)j * ldf];
}

static inline T B(dot_matrix)(int m, int n, const T *a, int lda, const T *b, int ldb) {
  T sum = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) sum += a[i + (long)j * lda] * b[i + (long)j * ldb];
  return sum;
}

static inline void B(scale_matrix)(T *a, int lda, int m, int n, T factor) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) a[i + (long)j * lda] = factor == 0 ? 0 : factor * a[i + (long)j * lda];
}

static inline char B(flip)(char trans) { return trans == 'N' || trans == 'n' ? 'T' : 'N'; }
static inline int B(is)(char given, char wanted) { return given == wanted || given == wanted + 'a' - 'A'; }

/* axpy: y += a x */

extern void F(axpy)(const int *, const T *, const T *, const int *, T *, const int *);
void B(axpy)(int n, T a, const T *x, int incx, T *y, int incy) { F(axpy)(&n, &a, x, &incx, y, &incy); }
void B(axpy_fwd)(int n, T a, T da, const T *x, const T *dx, int incx, T *y, T *dy, int incy) {
  if (dy && dx) B(axpy)(n, a, dx, incx, dy, incy);
  if (dy && da != 0) B(axpy)(n, da, x, incx, dy, incy);
  B(axpy)(n, a, x, incx, y, incy);
}
void *B(axpy_save)(int n, T a, const T *x, int incx, T *y, int incy) {
  T *saved = B(room)(n);
  B(keep)(saved, n, x, incx);
  B(axpy)(n, a, x, incx, y, incy);
  return saved;
}
T B(dot)(int n, const T *x, int incx, const T *y, int incy);
void B(axpy_rev)(int n, T a, T *da, const T *x, T *dx, int incx, T *y, T *dy, int incy, void *saved) {
  if (dy) {
    *da += B(dot)(n, saved, 1, dy, incy);
    if (dx) B(axpy)(n, a, dy, incy, dx, incx);
  }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(axpy), B(axpy_fwd), B(axpy_rev), B(axpy_save));

/* dot */

extern T F(dot)(const int *, const T *, const int *, const T *, const int *);
T B(dot)(int n, const T *x, int incx, const T *y, int incy) { return F(dot)(&n, x, &incx, y, &incy); }
T B(dot_fwd)(int n, const T *x, const T *dx, int incx, const T *y, const T *dy, int incy, T *dr) {
  *dr = (dx ? B(dot)(n, dx, incx, y, incy) : 0) + (dy ? B(dot)(n, x, incx, dy, incy) : 0);
  return B(dot)(n, x, incx, y, incy);
}
void *B(dot_save)(int n, const T *x, int incx, const T *y, int incy, T *r) {
  T *saved = B(room)(2L * n);
  B(keep)(B(keep)(saved, n, x, incx), n, y, incy);
  *r = B(dot)(n, x, incx, y, incy);
  return saved;
}
void B(dot_rev)(int n, const T *x, T *dx, int incx, const T *y, T *dy, int incy, T dr, void *saved) {
  T *sx = saved, *sy = sx + n;
  long ax = B(first)(n, incx), ay = B(first)(n, incy);
  if (dx)
    for (int i = 0; i < n; i++) dx[ax + (long)i * incx] += dr * sy[i];
  if (dy)
    for (int i = 0; i < n; i++) dy[ay + (long)i * incy] += dr * sx[i];
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(dot), B(dot_fwd), B(dot_rev), B(dot_save));

/* nrm2; at the zero vector, where there is no derivative, the derivative is taken to be zero. */

extern T F(nrm2)(const int *, const T *, const int *);
T B(nrm2)(int n, const T *x, int incx) { return F(nrm2)(&n, x, &incx); }
T B(nrm2_fwd)(int n, const T *x, const T *dx, int incx, T *dr) {
  T r = B(nrm2)(n, x, incx);
  *dr = dx && r > 0 ? B(dot)(n, x, incx, dx, incx) / r : 0;
  return r;
}
void *B(nrm2_save)(int n, const T *x, int incx, T *r) {
  T *saved = B(room)(n);
  B(keep)(saved, n, x, incx);
  *r = B(nrm2)(n, x, incx);
  return saved;
}
void B(nrm2_rev)(int n, const T *x, T *dx, int incx, T dr, void *saved) {
  T *sx = saved, r = B(nrm2)(n, sx, 1);
  long at = B(first)(n, incx);
  if (dx && r > 0)
    for (int i = 0; i < n; i++) dx[at + (long)i * incx] += dr * sx[i] / r;
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(nrm2), B(nrm2_fwd), B(nrm2_rev), B(nrm2_save));

/* scal: x *= a. A step that is not positive does nothing. */

extern void F(scal)(const int *, const T *, T *, const int *);
void B(scal)(int n, T a, T *x, int incx) { F(scal)(&n, &a, x, &incx); }
void B(scal_fwd)(int n, T a, T da, T *x, T *dx, int incx) {
  if (dx && incx > 0)
    for (int i = 0; i < n; i++) dx[(long)i * incx] = a * dx[(long)i * incx] + da * x[(long)i * incx];
  B(scal)(n, a, x, incx);
}
void *B(scal_save)(int n, T a, T *x, int incx) {
  T *saved = B(room)(n);
  if (incx > 0) B(keep)(saved, n, x, incx);
  B(scal)(n, a, x, incx);
  return saved;
}
void B(scal_rev)(int n, T a, T *da, T *x, T *dx, int incx, void *saved) {
  T *sx = saved;
  if (dx && incx > 0)
    for (int i = 0; i < n; i++) {
      *da += sx[i] * dx[(long)i * incx];
      dx[(long)i * incx] *= a;
    }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(scal), B(scal_fwd), B(scal_rev), B(scal_save));

/* ger: A += alpha x y^T */

extern void F(ger)(const int *, const int *, const T *, const T *, const int *, const T *, const int *, T *, const int *);
void B(ger)(int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) {
  F(ger)(&m, &n, &alpha, x, &incx, y, &incy, a, &lda);
}
void B(ger_fwd)(int m, int n, T alpha, T dalpha, const T *x, const T *dx, int incx, const T *y, const T *dy, int incy,
                T *a, T *da, int lda) {
  if (da && dx) B(ger)(m, n, alpha, dx, incx, y, incy, da, lda);
  if (da && dy) B(ger)(m, n, alpha, x, incx, dy, incy, da, lda);
  if (da && dalpha != 0) B(ger)(m, n, dalpha, x, incx, y, incy, da, lda);
  B(ger)(m, n, alpha, x, incx, y, incy, a, lda);
}
void *B(ger_save)(int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) {
  T *saved = B(room)((long)m + n);
  B(keep)(B(keep)(saved, m, x, incx), n, y, incy);
  B(ger)(m, n, alpha, x, incx, y, incy, a, lda);
  return saved;
}
void B(gemv)(char trans, int m, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y, int incy);
void B(ger_rev)(int m, int n, T alpha, T *dalpha, const T *x, T *dx, int incx, const T *y, T *dy, int incy, T *a, T *da,
                int lda, void *saved) {
  T *sx = saved, *sy = sx + m;
  if (da) {
    T *u = B(room)(m);
    B(gemv)('N', m, n, 1, da, lda, sy, 1, 0, u, 1);
    *dalpha += B(dot)(m, u, 1, sx, 1);
    if (dx) B(axpy)(m, alpha, u, 1, dx, incx);
    if (dy) B(gemv)('T', m, n, alpha, da, lda, sx, 1, 1, dy, incy);
    free(u);
  }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(ger), B(ger_fwd), B(ger_rev), B(ger_save));

/* gemv: y = alpha op(A) x + beta y */

extern void F(gemv)(const char *, const int *, const int *, const T *, const T *, const int *, const T *, const int *,
                    const T *, T *, const int *, size_t);
void B(gemv)(char trans, int m, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y, int incy) {
  F(gemv)(&trans, &m, &n, &alpha, a, &lda, x, &incx, &beta, y, &incy, 1);
}
void B(gemv_fwd)(char trans, int m, int n, T alpha, T dalpha, const T *a, const T *da, int lda, const T *x, const T *dx,
                 int incx, T beta, T dbeta, T *y, T *dy, int incy) {
  int ly = B(is)(trans, 'N') ? m : n;
  if (dy) {
    if (beta == 0) { /* then y is not read, and may be anything */
      long at = B(first)(ly, incy);
      for (int i = 0; i < ly; i++) dy[at + (long)i * incy] = 0;
    } else {
      B(scal)(ly, beta, dy, abs(incy));
    }
    if (dbeta != 0) B(axpy)(ly, dbeta, y, incy, dy, incy);
    if (da) B(gemv)(trans, m, n, alpha, da, lda, x, incx, 1, dy, incy);
    if (dx) B(gemv)(trans, m, n, alpha, a, lda, dx, incx, 1, dy, incy);
    if (dalpha != 0) B(gemv)(trans, m, n, dalpha, a, lda, x, incx, 1, dy, incy);
  }
  B(gemv)(trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
void *B(gemv_save)(char trans, int m, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y, int incy) {
  int lx = B(is)(trans, 'N') ? n : m, ly = m + n - lx;
  T *saved = B(room)((long)m * n + lx + ly);
  B(keep)(B(keep)(B(keep_matrix)(saved, m, n, a, lda), lx, x, incx), ly, y, incy);
  B(gemv)(trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
  return saved;
}
void B(gemv_rev)(char trans, int m, int n, T alpha, T *dalpha, const T *a, T *da, int lda, const T *x, T *dx, int incx,
                 T beta, T *dbeta, T *y, T *dy, int incy, void *saved) {
  int lx = B(is)(trans, 'N') ? n : m, ly = m + n - lx;
  T *sa = saved, *sx = sa + (long)m * n, *sy = sx + lx;
  if (dy) {
    T *u = B(room)(lx), *v = B(room)(ly);
    B(keep)(v, ly, dy, incy);
    B(gemv)(B(flip)(trans), m, n, 1, sa, m, v, 1, 0, u, 1);
    *dalpha += B(dot)(lx, u, 1, sx, 1);
    *dbeta += B(dot)(ly, v, 1, sy, 1);
    if (dx) B(axpy)(lx, alpha, u, 1, dx, incx);
    if (da && B(is)(trans, 'N')) B(ger)(m, n, alpha, v, 1, sx, 1, da, lda);
    if (da && !B(is)(trans, 'N')) B(ger)(m, n, alpha, sx, 1, v, 1, da, lda);
    long at = B(first)(ly, incy);
    for (int i = 0; i < ly; i++) dy[at + (long)i * incy] = beta == 0 ? 0 : beta * v[i];
    free(u);
    free(v);
  }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(gemv), B(gemv_fwd), B(gemv_rev), B(gemv_save));

/* gemm: C = alpha op(A) op(B) + beta C */

extern void F(gemm)(const char *, const char *, const int *, const int *, const int *, const T *, const T *, const int *,
                    const T *, const int *, const T *, T *, const int *, size_t, size_t);
void B(gemm)(char ta, char tb, int m, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c,
             int ldc) {
  F(gemm)(&ta, &tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
}
void B(gemm_fwd)(char ta, char tb, int m, int n, int k, T alpha, T dalpha, const T *a, const T *da, int lda, const T *b,
                 const T *db, int ldb, T beta, T dbeta, T *c, T *dc, int ldc) {
  if (dc) {
    B(scale_matrix)(dc, ldc, m, n, beta);
    if (dbeta != 0) B(add_matrix)(dc, ldc, m, n, dbeta, c, ldc);
    if (da) B(gemm)(ta, tb, m, n, k, alpha, da, lda, b, ldb, 1, dc, ldc);
    if (db) B(gemm)(ta, tb, m, n, k, alpha, a, lda, db, ldb, 1, dc, ldc);
    if (dalpha != 0) B(gemm)(ta, tb, m, n, k, dalpha, a, lda, b, ldb, 1, dc, ldc);
  }
  B(gemm)(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void *B(gemm_save)(char ta, char tb, int m, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c,
                   int ldc) {
  int ra = B(is)(ta, 'N') ? m : k, rb = B(is)(tb, 'N') ? k : n;
  T *saved = B(room)((long)m * k + (long)k * n + (long)m * n);
  T *next = B(keep_matrix)(saved, ra, m + k - ra, a, lda);
  B(keep_matrix)(B(keep_matrix)(next, rb, k + n - rb, b, ldb), m, n, c, ldc);
  B(gemm)(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  return saved;
}
void B(gemm_rev)(char ta, char tb, int m, int n, int k, T alpha, T *dalpha, const T *a, T *da, int lda, const T *b, T *db,
                 int ldb, T beta, T *dbeta, T *c, T *dc, int ldc, void *saved) {
  int ra = B(is)(ta, 'N') ? m : k, ca = m + k - ra, rb = B(is)(tb, 'N') ? k : n, cb = k + n - rb;
  T *sa = saved, *sb = sa + (long)m * k, *sc = sb + (long)k * n;
  if (dc) {
    *dbeta += B(dot_matrix)(m, n, dc, ldc, sc, m);
    if (da || !db) { /* U = dC op(B)^T, in the shape of A; its product with A is the derivative by alpha */
      T *u = B(room)((long)m * k);
      if (B(is)(ta, 'N')) B(gemm)('N', B(flip)(tb), m, k, n, 1, dc, ldc, sb, rb, 0, u, ra);
      else B(gemm)(tb, 'T', k, m, n, 1, sb, rb, dc, ldc, 0, u, ra);
      *dalpha += B(dot_matrix)(ra, ca, u, ra, sa, ra);
      if (da) B(add_matrix)(da, lda, ra, ca, alpha, u, ra);
      free(u);
    }
    if (db) { /* V = op(A)^T dC, in the shape of B */
      T *v = B(room)((long)k * n);
      if (B(is)(tb, 'N')) B(gemm)(B(flip)(ta), 'N', k, n, m, 1, sa, ra, dc, ldc, 0, v, rb);
      else B(gemm)('T', ta, n, k, m, 1, dc, ldc, sa, ra, 0, v, rb);
      if (!da) *dalpha += B(dot_matrix)(rb, cb, v, rb, sb, rb);
      B(add_matrix)(db, ldb, rb, cb, alpha, v, rb);
      free(v);
    }
    B(scale_matrix)(dc, ldc, m, n, beta);
  }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(gemm), B(gemm_fwd), B(gemm_rev), B(gemm_save));

/* trsm: X with op(A) X = alpha B, or X op(A) = alpha B, takes the place of B. A is a triangle. */

extern void F(trsm)(const char *, const char *, const char *, const char *, const int *, const int *, const T *, const T *,
                    const int *, T *, const int *, size_t, size_t, size_t, size_t);
void B(trsm)(char side, char uplo, char ta, char diag, int m, int n, T alpha, const T *a, int lda, T *b, int ldb) {
  F(trsm)(&side, &uplo, &ta, &diag, &m, &n, &alpha, a, &lda, b, &ldb, 1, 1, 1, 1);
}
/* The triangle that trsm reads, as a full matrix; `one` stands on a diagonal that is not read. */
static T *B(triangle)(T *to, int n, char uplo, char diag, const T *a, int lda, T one) {
  int upper = B(is)(uplo, 'U'), unit = B(is)(diag, 'U');
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      int inside = upper ? i < j : i > j;
      to[i + (long)j * n] = inside || (i == j && !unit) ? a[i + (long)j * lda] : i == j ? one : 0;
    }
  return to + (long)n * n;
}
void B(trsm_fwd)(char side, char uplo, char ta, char diag, int m, int n, T alpha, T dalpha, const T *a, const T *da,
                 int lda, T *b, T *db, int ldb) {
  int left = B(is)(side, 'L'), order = left ? m : n;
  if (db) {
    B(scale_matrix)(db, ldb, m, n, alpha);
    if (dalpha != 0) B(add_matrix)(db, ldb, m, n, dalpha, b, ldb);
  }
  B(trsm)(side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb);
  if (db && da) {
    T *t = B(room)((long)order * order);
    B(triangle)(t, order, uplo, diag, da, lda, 0);
    if (left) B(gemm)(ta, 'N', m, n, m, -1, t, m, b, ldb, 1, db, ldb);
    else B(gemm)('N', ta, m, n, n, -1, b, ldb, t, n, 1, db, ldb);
    free(t);
  }
  if (db) B(trsm)(side, uplo, ta, diag, m, n, 1, a, lda, db, ldb);
}
void *B(trsm_save)(char side, char uplo, char ta, char diag, int m, int n, T alpha, const T *a, int lda, T *b, int ldb) {
  int order = B(is)(side, 'L') ? m : n;
  T *saved = B(room)((long)order * order + (long)m * n);
  T *next = B(triangle)(saved, order, uplo, diag, a, lda, 1);
  /* With alpha = 0 the result does not depend on B, which the derivative by alpha needs. */
  if (alpha == 0) B(keep_matrix)(next, m, n, b, ldb);
  B(trsm)(side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb);
  if (alpha != 0) B(keep_matrix)(next, m, n, b, ldb);
  return saved;
}
void B(trsm_rev)(char side, char uplo, char ta, char diag, int m, int n, T alpha, T *dalpha, const T *a, T *da, int lda,
                 T *b, T *db, int ldb, void *saved) {
  int left = B(is)(side, 'L'), order = left ? m : n;
  T *sa = saved, *x = sa + (long)order * order;
  if (db) {
    /* W, with op(A)^T W = dX, takes the place of dX; then dB = alpha W, and d op(A) = -W X^T. */
    B(trsm)(side, uplo, B(flip)(ta), 'N', m, n, 1, sa, order, db, ldb);
    if (alpha == 0) *dalpha += B(dot_matrix)(m, n, db, ldb, x, m);
    T *u = B(room)((long)order * order);
    int swapped = left != B(is)(ta, 'N');
    if (left && !swapped) B(gemm)('N', 'T', m, m, n, -1, db, ldb, x, m, 0, u, m);
    if (left && swapped) B(gemm)('N', 'T', m, m, n, -1, x, m, db, ldb, 0, u, m);
    if (!left && !swapped) B(gemm)('T', 'N', n, n, m, -1, db, ldb, x, m, 0, u, n);
    if (!left && swapped) B(gemm)('T', 'N', n, n, m, -1, x, m, db, ldb, 0, u, n);
    if (alpha != 0) {
      /* <W, B> = <W X^T, op(A)> / alpha = -<dA, A> / alpha, over the whole triangle */
      T sum = 0;
      for (int j = 0; j < order; j++)
        for (int i = 0; i < order; i++) sum -= u[i + (long)j * order] * sa[i + (long)j * order];
      *dalpha += sum / alpha;
      if (da) {
        T *t = B(room)((long)order * order);
        B(triangle)(t, order, uplo, diag, u, order, 0);
        B(add_matrix)(da, lda, order, order, 1, t, order);
        free(t);
      }
    }
    free(u);
    B(scale_matrix)(db, ldb, m, n, alpha);
  }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(trsm), B(trsm_fwd), B(trsm_rev), B(trsm_save));
