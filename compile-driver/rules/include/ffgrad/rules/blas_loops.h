/* What blas.h and lapack.h call of a library, as loops: for rules whose programs need not have BLAS.
 *
 * Source: the reference BLAS and LAPACK (netlib.org) for what the names mean; Golub and Van Loan, "Matrix Computations",
 * 4th edition, 3.1 (triangular systems), 3.4.1 (LU with partial pivoting) and 4.2.1 (Cholesky).
 */

T F(dot)(const int *n, const T *x, const int *incx, const T *y, const int *incy) {
  T sum = 0;
  long ax = B(first)(*n, *incx), ay = B(first)(*n, *incy);
  for (long i = 0; i < *n; i++) sum += x[ax + i * *incx] * y[ay + i * *incy];
  return sum;
}
T F(nrm2)(const int *n, const T *x, const int *incx) {
  T sum = 0, largest = 0;
  for (long i = 0; i < *n; i++) largest = fabs(x[i * *incx]) > largest ? fabs(x[i * *incx]) : largest;
  if (largest == 0) return 0;
  for (long i = 0; i < *n; i++) sum += x[i * *incx] / largest * (x[i * *incx] / largest);
  return largest * sqrt(sum);
}
void F(scal)(const int *n, const T *a, T *x, const int *incx) {
  for (long i = 0; i < *n; i++) x[i * *incx] *= *a;
}
void F(axpy)(const int *n, const T *a, const T *x, const int *incx, T *y, const int *incy) {
  long ax = B(first)(*n, *incx), ay = B(first)(*n, *incy);
  for (long i = 0; i < *n; i++) y[ay + i * *incy] += *a * x[ax + i * *incx];
}
void F(ger)(const int *m, const int *n, const T *alpha, const T *x, const int *incx, const T *y, const int *incy, T *a,
            const int *lda) {
  long ax = B(first)(*m, *incx), ay = B(first)(*n, *incy);
  for (long j = 0; j < *n; j++) {
    T factor = *alpha * y[ay + j * *incy];
    for (long i = 0; i < *m; i++) a[i + j * *lda] += x[ax + i * *incx] * factor;
  }
}
void F(gemv)(const char *trans, const int *m, const int *n, const T *alpha, const T *a, const int *lda, const T *x,
             const int *incx, const T *beta, T *y, const int *incy, size_t length) {
  int plain = B(is)(*trans, 'N'), lx = plain ? *n : *m, ly = plain ? *m : *n;
  long ax = B(first)(lx, *incx), ay = B(first)(ly, *incy);
  for (long i = 0; i < ly; i++) y[ay + i * *incy] = *beta == 0 ? 0 : *beta * y[ay + i * *incy];
  for (long j = 0; j < *n; j++) {
    if (plain) {
      T factor = *alpha * x[ax + j * *incx];
      for (long i = 0; i < *m; i++) y[ay + i * *incy] += factor * a[i + j * *lda];
    } else {
      T sum = 0;
      for (long i = 0; i < *m; i++) sum += a[i + j * *lda] * x[ax + i * *incx];
      y[ay + j * *incy] += *alpha * sum;
    }
  }
}
void F(gemm)(const char *ta, const char *tb, const int *m, const int *n, const int *k, const T *alpha, const T *a,
             const int *lda, const T *b, const int *ldb, const T *beta, T *c, const int *ldc, size_t la, size_t lb) {
  int plain = B(is)(*ta, 'N');
  long bp = B(is)(*tb, 'N') ? 1 : *ldb, bj = B(is)(*tb, 'N') ? *ldb : 1;
  for (long j = 0; j < *n; j++) {
    T *column = c + j * *ldc;
    for (long i = 0; i < *m; i++) column[i] = *beta == 0 ? 0 : *beta * column[i];
    for (long p = 0; plain && p < *k; p++) {
      T factor = *alpha * b[p * bp + j * bj];
      for (long i = 0; i < *m; i++) column[i] += factor * a[i + p * *lda];
    }
    for (long i = 0; !plain && i < *m; i++) {
      T sum = 0;
      for (long p = 0; p < *k; p++) sum += a[p + i * *lda] * b[p * bp + j * bj];
      column[i] += *alpha * sum;
    }
  }
}
/* Solves with a triangle whose steps through memory are si and sj, from the first row or from the last. */
static void B(solve)(const T *a, long n, long si, long sj, int upper, int unit, T *x, long step) {
  for (long r = 0; r < n; r++) {
    long i = upper ? n - 1 - r : r;
    T sum = x[i * step];
    for (long k = upper ? i + 1 : 0; k < (upper ? n : i); k++) sum -= a[i * si + k * sj] * x[k * step];
    x[i * step] = unit ? sum : sum / a[i * si + i * sj];
  }
}
/* From the right it is the transposed triangle from the left, on rows. */
void F(trsm)(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
             const T *alpha, const T *a, const int *lda, T *b, const int *ldb, size_t l0, size_t l1, size_t l2, size_t l3) {
  int left = B(is)(*side, 'L'), flipped = B(is)(*trans, 'N') != left, upper = B(is)(*uplo, 'U') != flipped;
  for (long j = 0; j < *n; j++)
    for (long i = 0; i < *m; i++) b[i + j * *ldb] = *alpha == 0 ? 0 : *alpha * b[i + j * *ldb];
  for (long k = 0; k < (left ? *n : *m); k++)
    B(solve)(a, left ? *m : *n, flipped ? *lda : 1, flipped ? 1 : *lda, upper, B(is)(*diag, 'U'),
             b + (left ? k * *ldb : k), left ? 1 : *ldb);
}
void F(potrf)(const char *uplo, const int *n, T *a, const int *lda, int *info, size_t length) {
  int upper = B(is)(*uplo, 'U');
  for (int j = 0; j < *n; j++)
    for (int i = j; i < *n; i++) {
      T sum = a[B(at)(upper, i, j, *lda)];
      for (int k = 0; k < j; k++) sum -= a[B(at)(upper, i, k, *lda)] * a[B(at)(upper, j, k, *lda)];
      if (i == j && !(sum > 0)) {
        *info = j + 1;
        return;
      }
      a[B(at)(upper, i, j, *lda)] = i == j ? sqrt(sum) : sum / a[B(at)(upper, j, j, *lda)];
    }
  *info = 0;
}
void F(getrf)(const int *m, const int *n, T *a, const int *lda, int *ipiv, int *info) {
  long ld = *lda;
  *info = 0;
  for (long k = 0; k < *m && k < *n; k++) {
    long at = k;
    for (long i = k + 1; i < *m; i++)
      if (fabs(a[i + k * ld]) > fabs(a[at + k * ld])) at = i;
    ipiv[k] = (int)at + 1;
    if (a[at + k * ld] == 0) {
      if (!*info) *info = (int)k + 1;
      continue;
    }
    for (long j = 0; j < *n && at != k; j++) {
      T value = a[k + j * ld];
      a[k + j * ld] = a[at + j * ld];
      a[at + j * ld] = value;
    }
    for (long i = k + 1; i < *m; i++) a[i + k * ld] /= a[k + k * ld];
    for (long j = k + 1; j < *n; j++)
      for (long i = k + 1; i < *m; i++) a[i + j * ld] -= a[i + k * ld] * a[k + j * ld];
  }
}
void F(gesv)(const int *n, const int *nrhs, T *a, const int *lda, int *ipiv, T *b, const int *ldb, int *info) {
  const T one = 1;
  F(getrf)(n, n, a, lda, ipiv, info);
  if (*info) return;
  B(exchange)(*n, *nrhs, ipiv, b, *ldb, 0);
  F(trsm)("L", "L", "N", "U", n, nrhs, &one, a, lda, b, ldb, 1, 1, 1, 1);
  F(trsm)("L", "U", "N", "N", n, nrhs, &one, a, lda, b, ldb, 1, 1, 1, 1);
}
