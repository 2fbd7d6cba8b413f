/* More names of BLAS, over blas.h and blas_level3.h: symmetric and triangular products, and what is short enough to be differentiated as
 * code (rot, swap, asum, gbmv).
 *
 * Routines with vectors are those with matrices of one column, in consecutive memory.
 */

void C(syrk)(int order, int uplo, int trans, int n, int k, T alpha, const T *a, int lda, T beta, T *c, int ldc) {
  char triangle = LETTER(order == ROWS ? OTHER(uplo, 121, 122) : uplo);
  B(syrk)(triangle, order == ROWS ? B(flip)(LETTER(trans)) : LETTER(trans), n, k, alpha, a, lda, beta, c, ldc);
}
void B(syrk_)(const char *uplo, const char *trans, const int *n, const int *k, const T *alpha, const T *a, const int *lda,
              const T *beta, T *c, const int *ldc) {
  B(syrk)(*uplo, *trans, *n, *k, *alpha, a, *lda, *beta, c, *ldc);
}
void C(syr2k)(int order, int uplo, int trans, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc) {
  char triangle = LETTER(order == ROWS ? OTHER(uplo, 121, 122) : uplo);
  B(syr2k)(triangle, order == ROWS ? B(flip)(LETTER(trans)) : LETTER(trans), n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void B(syr2k_)(const char *uplo, const char *trans, const int *n, const int *k, const T *alpha, const T *a, const int *lda,
               const T *b, const int *ldb, const T *beta, T *c, const int *ldc) {
  B(syr2k)(*uplo, *trans, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}
void C(symm)(int order, int side, int uplo, int m, int n, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc) {
  if (order == ROWS)
    B(symm)(LETTER(OTHER(side, 141, 142)), LETTER(OTHER(uplo, 121, 122)), n, m, alpha, a, lda, b, ldb, beta, c, ldc);
  else B(symm)(LETTER(side), LETTER(uplo), m, n, alpha, a, lda, b, ldb, beta, c, ldc);
}
void B(symm_)(const char *side, const char *uplo, const int *m, const int *n, const T *alpha, const T *a, const int *lda,
              const T *b, const int *ldb, const T *beta, T *c, const int *ldc) {
  B(symm)(*side, *uplo, *m, *n, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}
void C(trmm)(int order, int side, int uplo, int ta, int diag, int m, int n, T alpha, const T *a, int lda, T *b, int ldb) {
  if (order == ROWS)
    B(trmm)(LETTER(OTHER(side, 141, 142)), LETTER(OTHER(uplo, 121, 122)), LETTER(ta), LETTER(diag), n, m, alpha, a, lda, b, ldb);
  else B(trmm)(LETTER(side), LETTER(uplo), LETTER(ta), LETTER(diag), m, n, alpha, a, lda, b, ldb);
}
void B(trmm_)(const char *side, const char *uplo, const char *ta, const char *diag, const int *m, const int *n, const T *alpha,
              const T *a, const int *lda, T *b, const int *ldb) {
  B(trmm)(*side, *uplo, *ta, *diag, *m, *n, *alpha, a, *lda, b, *ldb);
}

/* A vector in consecutive memory, and back. */
static T *B(straight)(int n, const T *x, int step) {
  T *to = B(room)(n);
  B(keep)(to, n, x, step);
  return to;
}
static void B(back)(int n, T *from, T *x, int step) {
  long at = B(first)(n, step);
  for (int i = 0; i < n; i++) x[at + (long)i * step] = from[i];
  free(from);
}

static void B(symv)(char uplo, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y, int incy) {
  T *u = B(straight)(n, x, incx), *v = B(straight)(n, y, incy);
  B(symm)('L', uplo, n, 1, alpha, a, lda, u, n, beta, v, n);
  B(back)(n, v, y, incy);
  free(u);
}
void C(symv)(int order, int uplo, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y, int incy) {
  B(symv)(LETTER(order == ROWS ? OTHER(uplo, 121, 122) : uplo), n, alpha, a, lda, x, incx, beta, y, incy);
}
void B(symv_)(const char *uplo, const int *n, const T *alpha, const T *a, const int *lda, const T *x, const int *incx,
              const T *beta, T *y, const int *incy) {
  B(symv)(*uplo, *n, *alpha, a, *lda, x, *incx, *beta, y, *incy);
}
static void B(trmv)(char uplo, char trans, char diag, int n, const T *a, int lda, T *x, int incx) {
  T *u = B(straight)(n, x, incx);
  B(trmm)('L', uplo, trans, diag, n, 1, 1, a, lda, u, n);
  B(back)(n, u, x, incx);
}
void C(trmv)(int order, int uplo, int trans, int diag, int n, const T *a, int lda, T *x, int incx) {
  char t = order == ROWS ? B(flip)(LETTER(trans)) : LETTER(trans);
  B(trmv)(LETTER(order == ROWS ? OTHER(uplo, 121, 122) : uplo), t, LETTER(diag), n, a, lda, x, incx);
}
void B(trmv_)(const char *uplo, const char *trans, const char *diag, const int *n, const T *a, const int *lda, T *x,
              const int *incx) {
  B(trmv)(*uplo, *trans, *diag, *n, a, *lda, x, *incx);
}
static void B(trsv)(char uplo, char trans, char diag, int n, const T *a, int lda, T *x, int incx) {
  T *u = B(straight)(n, x, incx);
  B(trsm)('L', uplo, trans, diag, n, 1, 1, a, lda, u, n);
  B(back)(n, u, x, incx);
}
void C(trsv)(int order, int uplo, int trans, int diag, int n, const T *a, int lda, T *x, int incx) {
  char t = order == ROWS ? B(flip)(LETTER(trans)) : LETTER(trans);
  B(trsv)(LETTER(order == ROWS ? OTHER(uplo, 121, 122) : uplo), t, LETTER(diag), n, a, lda, x, incx);
}
void B(trsv_)(const char *uplo, const char *trans, const char *diag, const int *n, const T *a, const int *lda, T *x,
              const int *incx) {
  B(trsv)(*uplo, *trans, *diag, *n, a, *lda, x, *incx);
}
static void B(syr)(char uplo, int n, T alpha, const T *x, int incx, T *a, int lda) {
  T *u = B(straight)(n, x, incx);
  B(syrk)(uplo, 'N', n, 1, alpha, u, n, 1, a, lda);
  free(u);
}
void C(syr)(int order, int uplo, int n, T alpha, const T *x, int incx, T *a, int lda) {
  B(syr)(LETTER(order == ROWS ? OTHER(uplo, 121, 122) : uplo), n, alpha, x, incx, a, lda);
}
void B(syr_)(const char *uplo, const int *n, const T *alpha, const T *x, const int *incx, T *a, const int *lda) {
  B(syr)(*uplo, *n, *alpha, x, *incx, a, *lda);
}
static void B(syr2)(char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) {
  T *u = B(straight)(n, x, incx), *v = B(straight)(n, y, incy);
  B(syr2k)(uplo, 'N', n, 1, alpha, u, n, v, n, 1, a, lda);
  free(u);
  free(v);
}
void C(syr2)(int order, int uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) {
  B(syr2)(LETTER(order == ROWS ? OTHER(uplo, 121, 122) : uplo), n, alpha, x, incx, y, incy, a, lda);
}
void B(syr2_)(const char *uplo, const int *n, const T *alpha, const T *x, const int *incx, const T *y, const int *incy, T *a,
              const int *lda) {
  B(syr2)(*uplo, *n, *alpha, x, *incx, y, *incy, a, *lda);
}

void C(rot)(int n, T *x, int incx, T *y, int incy, T c, T s) {
  long ax = B(first)(n, incx), ay = B(first)(n, incy);
  for (int i = 0; i < n; i++) {
    T u = x[ax + (long)i * incx], v = y[ay + (long)i * incy];
    x[ax + (long)i * incx] = c * u + s * v;
    y[ay + (long)i * incy] = c * v - s * u;
  }
}
void B(rot_)(const int *n, T *x, const int *incx, T *y, const int *incy, const T *c, const T *s) {
  C(rot)(*n, x, *incx, y, *incy, *c, *s);
}
void C(swap)(int n, T *x, int incx, T *y, int incy) {
  long ax = B(first)(n, incx), ay = B(first)(n, incy);
  for (int i = 0; i < n; i++) {
    T u = x[ax + (long)i * incx];
    x[ax + (long)i * incx] = y[ay + (long)i * incy];
    y[ay + (long)i * incy] = u;
  }
}
void B(swap_)(const int *n, T *x, const int *incx, T *y, const int *incy) { C(swap)(*n, x, *incx, y, *incy); }
T C(asum)(int n, const T *x, int incx) {
  T sum = 0;
  for (int i = 0; i < n && incx > 0; i++) sum += (T)fabs(x[(long)i * incx]);
  return sum;
}
T B(asum_)(const int *n, const T *x, const int *incx) { return C(asum)(*n, x, *incx); }

/* gbmv: y = alpha op(A) x + beta y, where A(i, j) stands in a[ku + i - j + j lda]. */
static void B(gbmv)(char trans, int m, int n, int kl, int ku, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y, int incy) {
  int plain = B(is)(trans, 'N'), lx = plain ? n : m, ly = plain ? m : n;
  T *u = B(straight)(lx, x, incx), *v = B(room)(ly);
  for (int i = 0; i < ly; i++) v[i] = 0;
  for (int j = 0; j < n; j++)
    for (int i = j > ku ? j - ku : 0; i < m && i <= j + kl; i++)
      if (plain) v[i] += a[ku + i - j + (long)j * lda] * u[j];
      else v[j] += a[ku + i - j + (long)j * lda] * u[i];
  long at = B(first)(ly, incy);
  for (int i = 0; i < ly; i++) y[at + (long)i * incy] = alpha * v[i] + (beta == 0 ? 0 : beta * y[at + (long)i * incy]);
  free(u);
  free(v);
}
void C(gbmv)(int order, int trans, int m, int n, int kl, int ku, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y,
             int incy) {
  if (order == ROWS) B(gbmv)(B(flip)(LETTER(trans)), n, m, ku, kl, alpha, a, lda, x, incx, beta, y, incy);
  else B(gbmv)(LETTER(trans), m, n, kl, ku, alpha, a, lda, x, incx, beta, y, incy);
}
void B(gbmv_)(const char *trans, const int *m, const int *n, const int *kl, const int *ku, const T *alpha, const T *a,
              const int *lda, const T *x, const int *incx, const T *beta, T *y, const int *incy) {
  B(gbmv)(*trans, *m, *n, *kl, *ku, *alpha, a, *lda, x, *incx, *beta, y, *incy);
}
