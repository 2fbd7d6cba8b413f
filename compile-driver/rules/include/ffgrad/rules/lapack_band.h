/* LAPACK in one precision: systems with few diagonals (gbtrf, gbtrs, gbsv, pbtrf, pbtrs, pbsv, gtsv, ptsv), as code that Enzyme differentiates.
 *
 * Source: the reference LAPACK (netlib.org/lapack) for what the names mean; Golub and Van Loan, "Matrix Computations", 4th edition, 3.4.1
 * (LU with partial pivoting), 4.2.1 (Cholesky) and 4.3 (bands).
 *
 * A(i, j) of a band stands in ab[kl + ku + i - j + j ldab]: above its ku diagonals there is room for kl more, which exchanges of rows fill.
 */

/* The row of the largest element of a column, from the diagonal on. A choice has no derivative. */
int B(pivot_row)(int rows, const T *x) {
  int best = 0;
  for (int i = 1; i < rows; i++)
    if (fabs(x[i]) > fabs(x[best])) best = i;
  return best;
}
FFGRAD_INACTIVE(B(pivot_row));
int B(is_zero)(const T *x) { return *x == 0; }
FFGRAD_INACTIVE(B(is_zero));

static int B(gbtrf)(int m, int n, int kl, int ku, T *ab, int ldab, int *ipiv) {
  int info = 0, kv = kl + ku, last = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < kl; i++) ab[i + (long)j * ldab] = 0;
  for (int j = 0; j < m && j < n; j++) {
    int below = kl < m - 1 - j ? kl : m - 1 - j, p = B(pivot_row)(below + 1, ab + kv + (long)j * ldab);
    ipiv[j] = j + p + 1;
    if (B(is_zero)(ab + kv + p + (long)j * ldab)) {
      if (!info) info = j + 1;
      continue;
    }
    int reach = j + ku + p < n - 1 ? j + ku + p : n - 1;
    last = reach > last ? reach : last;
    for (int k = j; k <= last && p; k++) {
      T *column = ab + kv + j - k + (long)k * ldab, value = column[0];
      column[0] = column[p];
      column[p] = value;
    }
    for (int i = 1; i <= below; i++) ab[kv + i + (long)j * ldab] /= ab[kv + (long)j * ldab];
    for (int k = j + 1; k <= last; k++)
      for (int i = 1; i <= below; i++)
        ab[kv + i + j - k + (long)k * ldab] -= ab[kv + i + (long)j * ldab] * ab[kv + j - k + (long)k * ldab];
  }
  return info;
}
static void B(exchange_rows)(int nrhs, T *b, int ldb, int i, int p) {
  for (int k = 0; k < nrhs && i != p; k++) {
    T value = b[i + (long)k * ldb];
    b[i + (long)k * ldb] = b[p + (long)k * ldb];
    b[p + (long)k * ldb] = value;
  }
}
static void B(gbtrs)(char trans, int n, int kl, int ku, int nrhs, const T *ab, int ldab, const int *ipiv, T *b, int ldb) {
  int kv = kl + ku, plain = B(is)(trans, 'N');
  for (int j = 0; plain && j < n; j++) {
    B(exchange_rows)(nrhs, b, ldb, j, ipiv[j] - 1);
    for (int k = 0; k < nrhs; k++)
      for (int i = 1; i <= kl && j + i < n; i++) b[j + i + (long)k * ldb] -= ab[kv + i + (long)j * ldab] * b[j + (long)k * ldb];
  }
  for (int k = 0; k < nrhs; k++)
    for (int r = 0; r < n; r++) {
      int j = plain ? n - 1 - r : r, least = j > kv ? j - kv : 0;
      T *x = b + (long)k * ldb;
      if (plain) {
        x[j] /= ab[kv + (long)j * ldab];
        for (int i = least; i < j; i++) x[i] -= ab[kv + i - j + (long)j * ldab] * x[j];
      } else {
        T sum = x[j];
        for (int i = least; i < j; i++) sum -= ab[kv + i - j + (long)j * ldab] * x[i];
        x[j] = sum / ab[kv + (long)j * ldab];
      }
    }
  for (int r = 0; !plain && r < n; r++) {
    int j = n - 1 - r;
    for (int k = 0; k < nrhs; k++) {
      T sum = b[j + (long)k * ldb];
      for (int i = 1; i <= kl && j + i < n; i++) sum -= ab[kv + i + (long)j * ldab] * b[j + i + (long)k * ldb];
      b[j + (long)k * ldb] = sum;
    }
    B(exchange_rows)(nrhs, b, ldb, j, ipiv[j] - 1);
  }
}
void B(gbtrf_)(const int *m, const int *n, const int *kl, const int *ku, T *ab, const int *ldab, int *ipiv, int *info) {
  *info = B(gbtrf)(*m, *n, *kl, *ku, ab, *ldab, ipiv);
}
void B(gbtrs_)(const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs, const T *ab, const int *ldab,
               const int *ipiv, T *b, const int *ldb, int *info) {
  B(gbtrs)(*trans, *n, *kl, *ku, *nrhs, ab, *ldab, ipiv, b, *ldb);
  *info = 0;
}
void B(gbsv_)(const int *n, const int *kl, const int *ku, const int *nrhs, T *ab, const int *ldab, int *ipiv, T *b, const int *ldb,
              int *info) {
  *info = B(gbtrf)(*n, *n, *kl, *ku, ab, *ldab, ipiv);
  if (*info == 0) B(gbtrs)('N', *n, *kl, *ku, *nrhs, ab, *ldab, ipiv, b, *ldb);
}

/* gtsv: three diagonals. The second one above the diagonal, which exchanges fill, takes the place of the one below. */
void B(gtsv_)(const int *n, const int *nrhs, T *dl, T *d, T *du, T *b, const int *ldb, int *info) {
  int size = *n;
  *info = 0;
  for (int i = 0; i + 1 < size; i++) {
    T column[2] = {d[i], dl[i]};
    int exchanged = B(pivot_row)(2, column);
    if (B(is_zero)(column + exchanged)) {
      *info = i + 1;
      return;
    }
    T below = column[1 - exchanged], next = d[i + 1], above = du[i], factor = below / column[exchanged];
    T further = i + 2 < size ? du[i + 1] : 0;
    d[i] = column[exchanged];
    du[i] = exchanged ? next : above;
    d[i + 1] = exchanged ? above - factor * next : next - factor * above;
    dl[i] = exchanged ? further : 0;
    if (exchanged && i + 2 < size) du[i + 1] = -factor * further;
    for (int k = 0; k < *nrhs; k++) {
      T *x = b + (long)k * *ldb + i, first = x[exchanged], second = x[1 - exchanged];
      x[0] = first;
      x[1] = second - factor * first;
    }
  }
  if (size > 0 && B(is_zero)(d + size - 1)) {
    *info = size;
    return;
  }
  for (int k = 0; k < *nrhs; k++)
    for (int i = size - 1; i >= 0; i--) {
      T *x = b + (long)k * *ldb;
      T sum = x[i];
      if (i + 1 < size) sum -= du[i] * x[i + 1];
      if (i + 2 < size) sum -= dl[i] * x[i + 2];
      x[i] = sum / d[i];
    }
}
int B(is_positive)(const T *x) { return *x > 0; }
FFGRAD_INACTIVE(B(is_positive));

/* A = L L^T, or U^T U, of a symmetric band with kd diagonals beside the main one: L(i, j) stands in ab[i - j + j ldab], U(j, i) in
 * ab[kd + j - i + i ldab]. */
static inline long B(in_band)(int upper, int kd, int ldab, int i, int j) {
  return upper ? kd + j - i + (long)i * ldab : i - j + (long)j * ldab;
}
static int B(pbtrf)(char uplo, int n, int kd, T *ab, int ldab) {
  int upper = B(is)(uplo, 'U');
  for (int j = 0; j < n; j++)
    for (int i = j; i < n && i <= j + kd; i++) {
      T sum = ab[B(in_band)(upper, kd, ldab, i, j)];
      for (int k = i > kd ? i - kd : 0; k < j; k++)
        sum -= ab[B(in_band)(upper, kd, ldab, i, k)] * ab[B(in_band)(upper, kd, ldab, j, k)];
      if (i == j && !B(is_positive)(&sum)) return j + 1;
      ab[B(in_band)(upper, kd, ldab, i, j)] = i == j ? (T)sqrt(sum) : sum / ab[B(in_band)(upper, kd, ldab, j, j)];
    }
  return 0;
}
static void B(pbtrs)(char uplo, int n, int kd, int nrhs, const T *ab, int ldab, T *b, int ldb) {
  int upper = B(is)(uplo, 'U');
  for (int c = 0; c < nrhs; c++) {
    T *x = b + (long)c * ldb;
    for (int i = 0; i < n; i++) {
      T sum = x[i];
      for (int k = i > kd ? i - kd : 0; k < i; k++) sum -= ab[B(in_band)(upper, kd, ldab, i, k)] * x[k];
      x[i] = sum / ab[B(in_band)(upper, kd, ldab, i, i)];
    }
    for (int i = n - 1; i >= 0; i--) {
      T sum = x[i];
      for (int k = i + 1; k < n && k <= i + kd; k++) sum -= ab[B(in_band)(upper, kd, ldab, k, i)] * x[k];
      x[i] = sum / ab[B(in_band)(upper, kd, ldab, i, i)];
    }
  }
}
void B(pbtrf_)(const char *uplo, const int *n, const int *kd, T *ab, const int *ldab, int *info) {
  *info = B(pbtrf)(*uplo, *n, *kd, ab, *ldab);
}
void B(pbtrs_)(const char *uplo, const int *n, const int *kd, const int *nrhs, const T *ab, const int *ldab, T *b, const int *ldb,
               int *info) {
  B(pbtrs)(*uplo, *n, *kd, *nrhs, ab, *ldab, b, *ldb);
  *info = 0;
}
void B(pbsv_)(const char *uplo, const int *n, const int *kd, const int *nrhs, T *ab, const int *ldab, T *b, const int *ldb, int *info) {
  *info = B(pbtrf)(*uplo, *n, *kd, ab, *ldab);
  if (*info == 0) B(pbtrs)(*uplo, *n, *kd, *nrhs, ab, *ldab, b, *ldb);
}

/* ptsv: a symmetric positive definite matrix of three diagonals, as L D L^T. */
void B(ptsv_)(const int *n, const int *nrhs, T *d, T *e, T *b, const int *ldb, int *info) {
  int size = *n;
  *info = 0;
  for (int i = 0; i < size; i++) {
    if (!B(is_positive)(d + i)) {
      *info = i + 1;
      return;
    }
    if (i + 1 == size) break;
    T above = e[i];
    e[i] = above / d[i];
    d[i + 1] -= e[i] * above;
  }
  for (int k = 0; k < *nrhs; k++) {
    T *x = b + (long)k * *ldb;
    for (int i = 1; i < size; i++) x[i] -= e[i - 1] * x[i - 1];
    for (int i = size - 1; i >= 0; i--) {
      T sum = x[i] / d[i];
      if (i + 1 < size) sum -= e[i] * x[i + 1];
      x[i] = sum;
    }
  }
}
