/* BLAS in one precision, over blas.h: products with symmetric and triangular matrices (syrk, syr2k, symm, trmm).
 *
 * Each reads or writes one triangle; its other half has no derivative. The derivatives work on full copies, by gemm, except where the
 * library's own routine gives them.
 *
 * Source: the product rule; Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation"
 * (2008), section 2.1. Of C = A B^T + B A^T, of which one triangle G of the adjoint counts, the adjoint of A is (G + G^T) B.
 */

/* One triangle as a full symmetric matrix. */
static T *B(symmetric)(T *to, char uplo, int n, const T *a, int lda) {
  int upper = B(is)(uplo, 'U');
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) {
      T value = upper ? a[j + (long)i * lda] : a[i + (long)j * lda];
      to[i + (long)j * n] = value;
      to[j + (long)i * n] = value;
    }
  return to + (long)n * n;
}
static inline void B(scale_triangle)(T *c, int ldc, char uplo, int n, T factor) {
  for (int j = 0; j < n; j++)
    for (int i = B(is)(uplo, 'U') ? 0 : j; i < (B(is)(uplo, 'U') ? j + 1 : n); i++)
      c[i + (long)j * ldc] = factor == 0 ? 0 : factor * c[i + (long)j * ldc];
}
/* to += factor * from, in one triangle; on the diagonal its half with `half`. */
static inline void B(add_triangle)(T *to, int ldt, char uplo, int n, T factor, const T *from, int ldf, int half) {
  for (int j = 0; j < n; j++)
    for (int i = B(is)(uplo, 'U') ? 0 : j; i < (B(is)(uplo, 'U') ? j + 1 : n); i++)
      to[i + (long)j * ldt] += (half && i == j ? factor / 2 : factor) * from[i + (long)j * ldf];
}
static inline T B(dot_triangle)(char uplo, int n, const T *a, int lda, const T *b, int ldb) {
  T sum = 0;
  for (int j = 0; j < n; j++)
    for (int i = B(is)(uplo, 'U') ? 0 : j; i < (B(is)(uplo, 'U') ? j + 1 : n); i++)
      sum += a[i + (long)j * lda] * b[i + (long)j * ldb];
  return sum;
}
/* G + G^T of the triangle G of an adjoint. */
static T *B(twice)(char uplo, int n, const T *g, int ldg) {
  T *s = B(room)((long)n * n);
  B(symmetric)(s, uplo, n, g, ldg);
  for (int i = 0; i < n; i++) s[i + (long)i * n] *= 2;
  return s;
}
/* u = S op(A), in the shape of A, whose other side is k. */
static void B(times_symmetric)(char trans, int n, int k, const T *s, const T *a, int lda, T *u) {
  if (B(is)(trans, 'N')) B(gemm)('N', 'N', n, k, n, 1, s, n, a, lda, 0, u, n);
  else B(gemm)('N', 'N', k, n, n, 1, a, lda, s, n, 0, u, k);
}

/* syr2k: one triangle of C = alpha (op(A) op(B)^T + op(B) op(A)^T) + beta C */

extern void F(syr2k)(const char *, const char *, const int *, const int *, const T *, const T *, const int *, const T *, const int *,
                     const T *, T *, const int *, size_t, size_t);
void B(syr2k)(char uplo, char trans, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc) {
  F(syr2k)(&uplo, &trans, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
}
void B(syr2k_fwd)(char uplo, char trans, int n, int k, T alpha, T dalpha, const T *a, const T *da, int lda, const T *b, const T *db,
                  int ldb, T beta, T dbeta, T *c, T *dc, int ldc) {
  if (dc) {
    B(scale_triangle)(dc, ldc, uplo, n, beta);
    if (dbeta != 0) B(add_triangle)(dc, ldc, uplo, n, dbeta, c, ldc, 0);
    if (da) B(syr2k)(uplo, trans, n, k, alpha, da, lda, b, ldb, 1, dc, ldc);
    if (db) B(syr2k)(uplo, trans, n, k, alpha, a, lda, db, ldb, 1, dc, ldc);
    if (dalpha != 0) B(syr2k)(uplo, trans, n, k, dalpha, a, lda, b, ldb, 1, dc, ldc);
  }
  B(syr2k)(uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void *B(syr2k_save)(char uplo, char trans, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc) {
  int rows = B(is)(trans, 'N') ? n : k;
  T *saved = B(room)(2L * n * k + (long)n * n);
  T *next = B(keep_matrix)(B(keep_matrix)(saved, rows, n + k - rows, a, lda), rows, n + k - rows, b, ldb);
  B(keep_matrix)(next, n, n, c, ldc);
  B(syr2k)(uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  return saved;
}
void B(syr2k_rev)(char uplo, char trans, int n, int k, T alpha, T *dalpha, const T *a, T *da, int lda, const T *b, T *db, int ldb, T beta,
                  T *dbeta, T *c, T *dc, int ldc, void *saved) {
  int rows = B(is)(trans, 'N') ? n : k, columns = n + k - rows;
  T *sa = saved, *sb = sa + (long)n * k, *sc = sb + (long)n * k;
  if (dc) {
    T *s = B(twice)(uplo, n, dc, ldc), *u = B(room)((long)n * k);
    B(times_symmetric)(trans, n, k, s, sb, rows, u);
    *dalpha += B(dot_matrix)(rows, columns, u, rows, sa, rows);
    *dbeta += B(dot_triangle)(uplo, n, dc, ldc, sc, n);
    if (da) B(add_matrix)(da, lda, rows, columns, alpha, u, rows);
    if (db) {
      B(times_symmetric)(trans, n, k, s, sa, rows, u);
      B(add_matrix)(db, ldb, rows, columns, alpha, u, rows);
    }
    B(scale_triangle)(dc, ldc, uplo, n, beta);
    free(s);
    free(u);
  }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(syr2k), B(syr2k_fwd), B(syr2k_rev), B(syr2k_save));

/* syrk: one triangle of C = alpha op(A) op(A)^T + beta C */

extern void F(syrk)(const char *, const char *, const int *, const int *, const T *, const T *, const int *, const T *, T *,
                    const int *, size_t, size_t);
void B(syrk)(char uplo, char trans, int n, int k, T alpha, const T *a, int lda, T beta, T *c, int ldc) {
  F(syrk)(&uplo, &trans, &n, &k, &alpha, a, &lda, &beta, c, &ldc, 1, 1);
}
void B(syrk_fwd)(char uplo, char trans, int n, int k, T alpha, T dalpha, const T *a, const T *da, int lda, T beta, T dbeta, T *c, T *dc,
                 int ldc) {
  if (dc) {
    B(scale_triangle)(dc, ldc, uplo, n, beta);
    if (dbeta != 0) B(add_triangle)(dc, ldc, uplo, n, dbeta, c, ldc, 0);
    if (da) B(syr2k)(uplo, trans, n, k, alpha, da, lda, a, lda, 1, dc, ldc);
    if (dalpha != 0) B(syrk)(uplo, trans, n, k, dalpha, a, lda, 1, dc, ldc);
  }
  B(syrk)(uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}
void *B(syrk_save)(char uplo, char trans, int n, int k, T alpha, const T *a, int lda, T beta, T *c, int ldc) {
  int rows = B(is)(trans, 'N') ? n : k;
  T *saved = B(room)((long)n * k + (long)n * n);
  B(keep_matrix)(B(keep_matrix)(saved, rows, n + k - rows, a, lda), n, n, c, ldc);
  B(syrk)(uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
  return saved;
}
void B(syrk_rev)(char uplo, char trans, int n, int k, T alpha, T *dalpha, const T *a, T *da, int lda, T beta, T *dbeta, T *c, T *dc,
                 int ldc, void *saved) {
  int rows = B(is)(trans, 'N') ? n : k, columns = n + k - rows;
  T *sa = saved, *sc = sa + (long)n * k;
  if (dc) {
    T *s = B(twice)(uplo, n, dc, ldc), *u = B(room)((long)n * k);
    B(times_symmetric)(trans, n, k, s, sa, rows, u);
    *dalpha += B(dot_matrix)(rows, columns, u, rows, sa, rows) / 2;
    *dbeta += B(dot_triangle)(uplo, n, dc, ldc, sc, n);
    if (da) B(add_matrix)(da, lda, rows, columns, alpha, u, rows);
    B(scale_triangle)(dc, ldc, uplo, n, beta);
    free(s);
    free(u);
  }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(syrk), B(syrk_fwd), B(syrk_rev), B(syrk_save));

/* symm: C = alpha A B + beta C, or alpha B A + beta C, with one triangle of the symmetric A. */

extern void F(symm)(const char *, const char *, const int *, const int *, const T *, const T *, const int *, const T *, const int *,
                    const T *, T *, const int *, size_t, size_t);
void B(symm)(char side, char uplo, int m, int n, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc) {
  F(symm)(&side, &uplo, &m, &n, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
}
void B(symm_fwd)(char side, char uplo, int m, int n, T alpha, T dalpha, const T *a, const T *da, int lda, const T *b, const T *db, int ldb,
                 T beta, T dbeta, T *c, T *dc, int ldc) {
  if (dc) {
    B(scale_matrix)(dc, ldc, m, n, beta);
    if (dbeta != 0) B(add_matrix)(dc, ldc, m, n, dbeta, c, ldc);
    if (da) B(symm)(side, uplo, m, n, alpha, da, lda, b, ldb, 1, dc, ldc);
    if (db) B(symm)(side, uplo, m, n, alpha, a, lda, db, ldb, 1, dc, ldc);
    if (dalpha != 0) B(symm)(side, uplo, m, n, dalpha, a, lda, b, ldb, 1, dc, ldc);
  }
  B(symm)(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
}
void *B(symm_save)(char side, char uplo, int m, int n, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc) {
  int order = B(is)(side, 'L') ? m : n;
  T *saved = B(room)((long)order * order + 2L * m * n);
  B(keep_matrix)(B(keep_matrix)(B(symmetric)(saved, uplo, order, a, lda), m, n, b, ldb), m, n, c, ldc);
  B(symm)(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
  return saved;
}
void B(symm_rev)(char side, char uplo, int m, int n, T alpha, T *dalpha, const T *a, T *da, int lda, const T *b, T *db, int ldb, T beta,
                 T *dbeta, T *c, T *dc, int ldc, void *saved) {
  int left = B(is)(side, 'L'), order = left ? m : n;
  T *sa = saved, *sb = sa + (long)order * order, *sc = sb + (long)m * n;
  if (dc) {
    T *u = B(room)((long)m * n), *v = B(room)((long)order * order);
    B(symm)(side, 'L', m, n, 1, sa, order, dc, ldc, 0, u, m);
    *dalpha += B(dot_matrix)(m, n, u, m, sb, m);
    *dbeta += B(dot_matrix)(m, n, dc, ldc, sc, m);
    if (db) B(add_matrix)(db, ldb, m, n, alpha, u, m);
    if (da) { /* V = dC B^T or B^T dC; both of its halves belong to the triangle */
      if (left) B(gemm)('N', 'T', m, m, n, 1, dc, ldc, sb, m, 0, v, m);
      else B(gemm)('T', 'N', n, n, m, 1, sb, m, dc, ldc, 0, v, n);
      for (int j = 0; j < order; j++)
        for (int i = j; i < order; i++) {
          T sum = v[i + (long)j * order] + v[j + (long)i * order];
          v[i + (long)j * order] = sum;
          v[j + (long)i * order] = sum;
        }
      B(add_triangle)(da, lda, uplo, order, alpha, v, order, 1);
    }
    B(scale_matrix)(dc, ldc, m, n, beta);
    free(u);
    free(v);
  }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(symm), B(symm_fwd), B(symm_rev), B(symm_save));

/* trmm: B = alpha op(A) B, or alpha B op(A). A is a triangle. */

extern void F(trmm)(const char *, const char *, const char *, const char *, const int *, const int *, const T *, const T *, const int *,
                    T *, const int *, size_t, size_t, size_t, size_t);
void B(trmm)(char side, char uplo, char ta, char diag, int m, int n, T alpha, const T *a, int lda, T *b, int ldb) {
  F(trmm)(&side, &uplo, &ta, &diag, &m, &n, &alpha, a, &lda, b, &ldb, 1, 1, 1, 1);
}
void B(trmm_fwd)(char side, char uplo, char ta, char diag, int m, int n, T alpha, T dalpha, const T *a, const T *da, int lda, T *b, T *db,
                 int ldb) {
  int left = B(is)(side, 'L'), order = left ? m : n;
  if (db) {
    T *x = B(room)((long)m * n + (long)order * order), *t = x + (long)m * n;
    B(trmm)(side, uplo, ta, diag, m, n, alpha, a, lda, db, ldb);
    if (da) {
      B(triangle)(t, order, uplo, diag, da, lda, 0);
      if (left) B(gemm)(ta, 'N', m, n, m, alpha, t, m, b, ldb, 1, db, ldb);
      else B(gemm)('N', ta, m, n, n, alpha, b, ldb, t, n, 1, db, ldb);
    }
    if (dalpha != 0) {
      B(keep_matrix)(x, m, n, b, ldb);
      B(trmm)(side, uplo, ta, diag, m, n, dalpha, a, lda, x, m);
      B(add_matrix)(db, ldb, m, n, 1, x, m);
    }
    free(x);
  }
  B(trmm)(side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb);
}
void *B(trmm_save)(char side, char uplo, char ta, char diag, int m, int n, T alpha, const T *a, int lda, T *b, int ldb) {
  int order = B(is)(side, 'L') ? m : n;
  T *saved = B(room)((long)order * order + (long)m * n);
  B(keep_matrix)(B(triangle)(saved, order, uplo, diag, a, lda, 1), m, n, b, ldb);
  B(trmm)(side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb);
  return saved;
}
void B(trmm_rev)(char side, char uplo, char ta, char diag, int m, int n, T alpha, T *dalpha, const T *a, T *da, int lda, T *b, T *db,
                 int ldb, void *saved) {
  int left = B(is)(side, 'L'), order = left ? m : n, plain = B(is)(ta, 'N');
  T *sa = saved, *sb = sa + (long)order * order;
  if (db) {
    if (da) { /* of op(A): dB B^T or B^T dB */
      T *u = B(room)(2L * order * order), *t = u + (long)order * order;
      if (left && plain) B(gemm)('N', 'T', m, m, n, 1, db, ldb, sb, m, 0, u, m);
      if (left && !plain) B(gemm)('N', 'T', m, m, n, 1, sb, m, db, ldb, 0, u, m);
      if (!left && plain) B(gemm)('T', 'N', n, n, m, 1, sb, m, db, ldb, 0, u, n);
      if (!left && !plain) B(gemm)('T', 'N', n, n, m, 1, db, ldb, sb, m, 0, u, n);
      B(triangle)(t, order, uplo, diag, u, order, 0);
      B(add_matrix)(da, lda, order, order, alpha, t, order);
      free(u);
    }
    B(trmm)(side, uplo, B(flip)(ta), 'N', m, n, 1, sa, order, db, ldb);
    *dalpha += B(dot_matrix)(m, n, db, ldb, sb, m);
    B(scale_matrix)(db, ldb, m, n, alpha);
  }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(trmm), B(trmm_fwd), B(trmm_rev), B(trmm_save));
