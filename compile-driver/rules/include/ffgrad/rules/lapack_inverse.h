/* LAPACK in one precision, over lapack.h: triangular systems (trtrs) and inverses from a factorisation (trtri, potri, getri).
 *
 * They solve for the unit matrix, by routines that have derivatives.
 */

/* The column of the first zero on the diagonal, counted from 1; 0 if there is none. */
int B(singular)(char diag, int n, const T *a, int lda) {
  for (int i = 0; i < n && !B(is)(diag, 'U'); i++)
    if (a[i + (long)i * lda] == 0) return i + 1;
  return 0;
}
FFGRAD_INACTIVE(B(singular));
static T *B(unit)(int n) {
  T *to = B(room)((long)n * n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) to[i + (long)j * n] = i == j;
  return to;
}
static void B(put_triangle)(T *to, int ldt, char uplo, char diag, int n, const T *from) {
  int unit = B(is)(diag, 'U');
  for (int j = 0; j < n; j++)
    for (int i = B(is)(uplo, 'U') ? 0 : j + unit; i < (B(is)(uplo, 'U') ? j + 1 - unit : n); i++)
      to[i + (long)j * ldt] = from[i + (long)j * n];
}
static int B(trtrs)(char uplo, char trans, char diag, int n, int nrhs, const T *a, int lda, T *b, int ldb) {
  int info = B(singular)(diag, n, a, lda);
  if (!info) B(trsm)('L', uplo, trans, diag, n, nrhs, 1, a, lda, b, ldb);
  return info;
}
static int B(trtri)(char uplo, char diag, int n, T *a, int lda) {
  int info = B(singular)(diag, n, a, lda);
  if (info) return info;
  T *x = B(unit)(n);
  B(trsm)('L', uplo, 'N', diag, n, n, 1, a, lda, x, n);
  B(put_triangle)(a, lda, uplo, diag, n, x);
  free(x);
  return 0;
}
static int B(potri)(char uplo, int n, T *a, int lda) {
  int info = B(singular)('N', n, a, lda);
  if (info) return info;
  T *x = B(unit)(n);
  B(potrs)(uplo, n, n, a, lda, x, n);
  B(put_triangle)(a, lda, uplo, 'N', n, x);
  free(x);
  return 0;
}
static int B(getri)(int n, T *a, int lda, const int *ipiv) {
  int info = B(singular)('N', n, a, lda);
  if (info) return info;
  T *x = B(unit)(n);
  B(getrs)('N', n, n, a, lda, ipiv, x, n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) a[i + (long)j * lda] = x[i + (long)j * n];
  free(x);
  return 0;
}

void B(trtrs_)(const char *uplo, const char *trans, const char *diag, const int *n, const int *nrhs, const T *a, const int *lda, T *b,
               const int *ldb, int *info) {
  *info = B(trtrs)(*uplo, *trans, *diag, *n, *nrhs, a, *lda, b, *ldb);
}
void B(trtri_)(const char *uplo, const char *diag, const int *n, T *a, const int *lda, int *info) {
  *info = B(trtri)(*uplo, *diag, *n, a, *lda);
}
void B(potri_)(const char *uplo, const int *n, T *a, const int *lda, int *info) { *info = B(potri)(*uplo, *n, a, *lda); }
/* A size of -1 asks for that of the workspace, which is not used here. */
void B(getri_)(const int *n, T *a, const int *lda, const int *ipiv, T *work, const int *size, int *info) {
  if (*size == -1) {
    work[0] = *n > 0 ? *n : 1;
    *info = 0;
    return;
  }
  *info = B(getri)(*n, a, *lda, ipiv);
}

int E(trtrs)(int order, char uplo, char trans, char diag, int n, int nrhs, const T *a, int lda, T *b, int ldb) {
  T *c = B(columns_of)(order, n, n, (T *)a, lda), *x = B(columns_of)(order, n, nrhs, b, ldb);
  int info = B(trtrs)(uplo, trans, diag, n, nrhs, c, STEP(order, n, lda), x, STEP(order, n, ldb));
  if (order == ROWS) free(c);
  B(rows_from)(order, n, nrhs, x, b, ldb);
  return info;
}
int E(trtri)(int order, char uplo, char diag, int n, T *a, int lda) {
  T *c = B(columns_of)(order, n, n, a, lda);
  int info = B(trtri)(uplo, diag, n, c, STEP(order, n, lda));
  B(rows_from)(order, n, n, c, a, lda);
  return info;
}
int E(potri)(int order, char uplo, int n, T *a, int lda) {
  T *c = B(columns_of)(order, n, n, a, lda);
  int info = B(potri)(uplo, n, c, STEP(order, n, lda));
  B(rows_from)(order, n, n, c, a, lda);
  return info;
}
int E(getri)(int order, int n, T *a, int lda, const int *ipiv) {
  T *c = B(columns_of)(order, n, n, a, lda);
  int info = B(getri)(n, c, STEP(order, n, lda), ipiv);
  B(rows_from)(order, n, n, c, a, lda);
  return info;
}
