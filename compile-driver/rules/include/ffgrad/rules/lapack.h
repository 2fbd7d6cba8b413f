/* LAPACK in one precision, over blas.h: Cholesky and LU factorisations and what is solved with them.
 *
 * A factorisation that fails (info is not zero) has no derivative: not-a-number is what it then gives.
 *
 * Source: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008),
 * section 2.2.2 (solving); Murray, "Differentiation of the Cholesky decomposition" (2016), equations 8 and 10. For LU, with
 * F = L^-1 P dA U^-1, from P A = L U follow dL = L strictly_lower(F) and dU = upper(F) U, and the adjoint from
 * <dL, L'> + <dU, U'> = <F, strictly_lower(L^T L') + upper(U' U^T)>.
 */

static void B(poison)(T *a, int lda, int m, int n) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) a[i + (long)j * lda] = NAN;
}

/* potrf: A = L L^T, of which one triangle is read and overwritten. The upper one is U = L^T. */

extern void F(potrf)(const char *, const int *, T *, const int *, int *, size_t);
int B(potrf)(char uplo, int n, T *a, int lda) {
  int info = 0;
  F(potrf)(&uplo, &n, a, &lda, &info, 1);
  return info;
}
static inline long B(at)(int upper, int i, int j, int lda) { return upper ? j + (long)i * lda : i + (long)j * lda; }
/* The triangle as the lower one of a full matrix; above it zeros, or its mirror image. */
static T *B(take)(T *to, int upper, int n, const T *a, int lda, int mirror) {
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) {
      T value = a[B(at)(upper, i, j, lda)];
      to[j + (long)i * n] = mirror ? value : 0;
      to[i + (long)j * n] = value;
    }
  return to + (long)n * n;
}
static void B(put)(T *a, int upper, int n, int lda, const T *from, T diagonal) {
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) a[B(at)(upper, i, j, lda)] = from[i + (long)j * n] * (i == j ? diagonal : 1);
}
/* Lower triangle with half the diagonal (Murray's Phi), or with the whole and mirrored. */
static void B(halve)(T *p, int n, int mirror) {
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) {
      T value = p[i + (long)j * n];
      p[j + (long)i * n] = mirror ? value : 0;
      p[i + (long)j * n] = i == j && !mirror ? value / 2 : value;
    }
}
int B(potrf_fwd)(char uplo, int n, T *a, T *da, int lda) {
  int info = B(potrf)(uplo, n, a, lda), upper = B(is)(uplo, 'U');
  if (da && info) B(poison)(da, lda, n, n);
  if (da && !info) {
    T *l = B(room)(3L * n * n), *p = l + (long)n * n, *q = p + (long)n * n;
    B(take)(l, upper, n, a, lda, 0);
    B(take)(p, upper, n, da, lda, 1);
    B(trsm)('L', 'L', 'N', 'N', n, n, 1, l, n, p, n);
    B(trsm)('R', 'L', 'T', 'N', n, n, 1, l, n, p, n);
    B(halve)(p, n, 0);
    B(gemm)('N', 'N', n, n, n, 1, l, n, p, n, 0, q, n);
    B(put)(da, upper, n, lda, q, 1);
    free(l);
  }
  return info;
}
void *B(potrf_save)(char uplo, int n, T *a, int lda, int *info) {
  *info = B(potrf)(uplo, n, a, lda);
  T *saved = B(room)((long)n * n + 1);
  saved[0] = *info;
  B(take)(saved + 1, B(is)(uplo, 'U'), n, a, lda, 0);
  return saved;
}
void B(potrf_rev)(char uplo, int n, T *a, T *da, int lda, void *saved) {
  T *info = saved, *l = info + 1;
  int upper = B(is)(uplo, 'U');
  if (da && *info != 0) B(poison)(da, lda, n, n);
  if (da && *info == 0) {
    T *g = B(room)(2L * n * n), *q = g + (long)n * n;
    B(take)(g, upper, n, da, lda, 0);
    B(gemm)('T', 'N', n, n, n, 1, l, n, g, n, 0, q, n);
    B(halve)(q, n, 1);
    B(trsm)('L', 'L', 'T', 'N', n, n, 1, l, n, q, n);
    B(trsm)('R', 'L', 'N', 'N', n, n, 1, l, n, q, n);
    B(put)(da, upper, n, lda, q, (T)0.5);
    free(g);
  }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(potrf), B(potrf_fwd), B(potrf_rev), B(potrf_save));

/* potrs: two triangular systems, whose derivatives are trsm's. */
void B(potrs)(char uplo, int n, int nrhs, const T *a, int lda, T *b, int ldb) {
  char first = B(is)(uplo, 'U') ? 'T' : 'N';
  B(trsm)('L', uplo, first, 'N', n, nrhs, 1, a, lda, b, ldb);
  B(trsm)('L', uplo, B(flip)(first), 'N', n, nrhs, 1, a, lda, b, ldb);
}

/* Row interchanges as in ipiv, or their inverse. */
static void B(exchange)(int n, int columns, const int *ipiv, T *b, int ldb, int back) {
  for (int step = 0; step < n; step++) {
    int i = back ? n - 1 - step : step, p = ipiv[i] - 1;
    for (int j = 0; j < columns; j++) {
      T value = b[i + (long)j * ldb];
      b[i + (long)j * ldb] = b[p + (long)j * ldb];
      b[p + (long)j * ldb] = value;
    }
  }
}

/* getrs */
void B(getrs)(char trans, int n, int nrhs, const T *a, int lda, const int *ipiv, T *b, int ldb) {
  if (B(is)(trans, 'N')) {
    B(exchange)(n, nrhs, ipiv, b, ldb, 0);
    B(trsm)('L', 'L', 'N', 'U', n, nrhs, 1, a, lda, b, ldb);
    B(trsm)('L', 'U', 'N', 'N', n, nrhs, 1, a, lda, b, ldb);
  } else {
    B(trsm)('L', 'U', 'T', 'N', n, nrhs, 1, a, lda, b, ldb);
    B(trsm)('L', 'L', 'T', 'U', n, nrhs, 1, a, lda, b, ldb);
    B(exchange)(n, nrhs, ipiv, b, ldb, 1);
  }
}

/* The tangent of the factors takes the place of that of the matrix. */
static void B(lu_forward)(int n, const T *lu, int ldl, const int *ipiv, T *da, int lda) {
  B(exchange)(n, n, ipiv, da, lda, 0);
  B(trsm)('L', 'L', 'N', 'U', n, n, 1, lu, ldl, da, lda);
  B(trsm)('R', 'U', 'N', 'N', n, n, 1, lu, ldl, da, lda);
  T *l = B(room)(4L * n * n), *u = l + (long)n * n, *low = u + (long)n * n, *up = low + (long)n * n;
  B(triangle)(l, n, 'L', 'U', lu, ldl, 1);
  B(triangle)(u, n, 'U', 'N', lu, ldl, 0);
  B(triangle)(low, n, 'L', 'U', da, lda, 0);
  B(triangle)(up, n, 'U', 'N', da, lda, 0);
  B(gemm)('N', 'N', n, n, n, 1, l, n, low, n, 0, da, lda);
  B(gemm)('N', 'N', n, n, n, 1, up, n, u, n, 1, da, lda);
  free(l);
}
/* The adjoint of the matrix takes the place of that of the factors. */
static void B(lu_reverse)(int n, const T *lu, const int *ipiv, T *da, int lda) {
  T *l = B(room)(5L * n * n), *u = l + (long)n * n, *g = u + (long)n * n, *low = g + (long)n * n, *up = low + (long)n * n;
  B(triangle)(l, n, 'L', 'U', lu, n, 1);
  B(triangle)(u, n, 'U', 'N', lu, n, 0);
  B(triangle)(g, n, 'L', 'U', da, lda, 0);
  B(gemm)('T', 'N', n, n, n, 1, l, n, g, n, 0, low, n);
  B(triangle)(g, n, 'U', 'N', da, lda, 0);
  B(gemm)('N', 'T', n, n, n, 1, g, n, u, n, 0, up, n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) da[i + (long)j * lda] = i > j ? low[i + (long)j * n] : up[i + (long)j * n];
  B(trsm)('L', 'L', 'T', 'U', n, n, 1, l, n, da, lda);
  B(trsm)('R', 'U', 'T', 'N', n, n, 1, u, n, da, lda);
  B(exchange)(n, n, ipiv, da, lda, 1);
  free(l);
}

/* info, the factors and the exchanges */
static T *B(keep_lu)(int n, int info, const T *a, int lda, const int *ipiv, int more) {
  T *saved = B(room)((long)n * (n + 1) + more + 1);
  saved[0] = info;
  T *next = B(keep_matrix)(saved + 1, n, n, a, lda);
  for (int i = 0; i < n; i++) next[i] = ipiv[i];
  return saved;
}
static int *B(exchanges)(int n, const T *saved) {
  int *ipiv = malloc((n + 1) * sizeof(int));
  for (int i = 0; i < n; i++) ipiv[i] = (int)saved[1 + (long)n * n + i];
  return ipiv;
}

/* getrf: the factors take the place of A. Of a matrix that is not square the derivative is not known. */

extern void F(getrf)(const int *, const int *, T *, const int *, int *, int *);
int B(getrf)(int m, int n, T *a, int lda, int *ipiv) {
  int info = 0;
  F(getrf)(&m, &n, a, &lda, ipiv, &info);
  return info;
}
int B(getrf_fwd)(int m, int n, T *a, T *da, int lda, int *ipiv, int *unused) {
  int info = B(getrf)(m, n, a, lda, ipiv);
  if (da && (info || m != n)) B(poison)(da, lda, m, n);
  else if (da) B(lu_forward)(n, a, lda, ipiv, da, lda);
  return info;
}
void *B(getrf_save)(int m, int n, T *a, int lda, int *ipiv, int *info) {
  *info = B(getrf)(m, n, a, lda, ipiv);
  return B(keep_lu)(m == n ? n : 0, m == n ? *info : 1, a, lda, ipiv, 0);
}
void B(getrf_rev)(int m, int n, T *a, T *da, int lda, int *ipiv, int *unused, void *saved) {
  T *info = saved;
  if (da && *info != 0) B(poison)(da, lda, m, n);
  if (da && *info == 0) {
    int *exchanges = B(exchanges)(n, saved);
    B(lu_reverse)(n, info + 1, exchanges, da, lda);
    free(exchanges);
  }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(getrf), B(getrf_fwd), B(getrf_rev), B(getrf_save));

/* gesv: A X = B; X takes the place of B, the factors that of A. */

extern void F(gesv)(const int *, const int *, T *, const int *, int *, T *, const int *, int *);
int B(gesv)(int n, int nrhs, T *a, int lda, int *ipiv, T *b, int ldb) {
  int info = 0;
  F(gesv)(&n, &nrhs, a, &lda, ipiv, b, &ldb, &info);
  return info;
}
int B(gesv_fwd)(int n, int nrhs, T *a, T *da, int lda, int *ipiv, int *unused, T *b, T *db, int ldb) {
  int info = B(gesv)(n, nrhs, a, lda, ipiv, b, ldb);
  if (info) {
    if (da) B(poison)(da, lda, n, n);
    if (db) B(poison)(db, ldb, n, nrhs);
    return info;
  }
  if (db && da) B(gemm)('N', 'N', n, nrhs, n, -1, da, lda, b, ldb, 1, db, ldb);
  if (db) B(getrs)('N', n, nrhs, a, lda, ipiv, db, ldb);
  if (da) B(lu_forward)(n, a, lda, ipiv, da, lda);
  return info;
}
void *B(gesv_save)(int n, int nrhs, T *a, int lda, int *ipiv, T *b, int ldb, int *info) {
  *info = B(gesv)(n, nrhs, a, lda, ipiv, b, ldb);
  T *saved = B(keep_lu)(n, *info, a, lda, ipiv, n * nrhs);
  B(keep_matrix)(saved + 1 + (long)n * (n + 1), n, nrhs, b, ldb);
  return saved;
}
void B(gesv_rev)(int n, int nrhs, T *a, T *da, int lda, int *ipiv, int *unused, T *b, T *db, int ldb, void *saved) {
  T *info = saved, *lu = info + 1, *x = lu + (long)n * (n + 1);
  int *exchanges = B(exchanges)(n, saved);
  if (*info != 0) {
    if (da) B(poison)(da, lda, n, n);
    if (db) B(poison)(db, ldb, n, nrhs);
  } else {
    /* Few use the factors; who does not is spared the work, which is n^3 against n^2 a right-hand side. */
    int used = 0;
    if (da)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) used |= da[i + (long)j * lda] != 0;
    if (used) B(lu_reverse)(n, lu, exchanges, da, lda);
    if (db) B(getrs)('T', n, nrhs, lu, n, exchanges, db, ldb);
    if (da && db) B(gemm)('N', 'T', n, n, nrhs, -1, db, ldb, x, n, 1, da, lda);
  }
  free(exchanges);
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(gesv), B(gesv_fwd), B(gesv_rev), B(gesv_save));

/* The Fortran names. */

void B(potrf_)(const char *uplo, const int *n, T *a, const int *lda, int *info) { *info = B(potrf)(*uplo, *n, a, *lda); }
void B(potrs_)(const char *uplo, const int *n, const int *nrhs, const T *a, const int *lda, T *b, const int *ldb,
               int *info) {
  B(potrs)(*uplo, *n, *nrhs, a, *lda, b, *ldb);
  *info = 0;
}
void B(getrs_)(const char *trans, const int *n, const int *nrhs, const T *a, const int *lda, const int *ipiv, T *b,
               const int *ldb, int *info) {
  B(getrs)(*trans, *n, *nrhs, a, *lda, ipiv, b, *ldb);
  *info = 0;
}
void B(gesv_)(const int *n, const int *nrhs, T *a, const int *lda, int *ipiv, T *b, const int *ldb, int *info) {
  *info = B(gesv)(*n, *nrhs, a, *lda, ipiv, b, *ldb);
}
void B(getrf_)(const int *m, const int *n, T *a, const int *lda, int *ipiv, int *info) {
  *info = B(getrf)(*m, *n, a, *lda, ipiv);
}
void B(posv_)(const char *uplo, const int *n, const int *nrhs, T *a, const int *lda, T *b, const int *ldb, int *info) {
  *info = B(potrf)(*uplo, *n, a, *lda);
  if (*info == 0) B(potrs)(*uplo, *n, *nrhs, a, *lda, b, *ldb);
}
