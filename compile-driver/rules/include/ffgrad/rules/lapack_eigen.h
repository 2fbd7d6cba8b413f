/* LAPACK in one precision, over lapack.h: symmetric eigenvalue problems and least squares.
 *
 * Source: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008),
 * section 3.1 (eigenvalues and eigenvectors); Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least
 * squares problems whose variables separate" (1973), equation 4.12.
 */
#include <float.h>
#include <string.h>

/* syev: A = V diag(w) V^T, of which one triangle is read; V takes the place of A where job is V. What job N leaves in A is
 * not defined and has no derivative. */

extern void F(syev)(const char *, const char *, const int *, T *, const int *, T *, T *, const int *, int *, size_t, size_t);
extern void F(syevd)(const char *, const char *, const int *, T *, const int *, T *, T *, const int *, int *, const int *, int *,
                     size_t, size_t);
static int B(library_syevd)(char job, char uplo, int n, T *a, int lda, T *w) {
  int info = 0, size = 1 + 6 * n + 2 * n * n, count = 3 + 5 * n, *integers = malloc(count * sizeof(int));
  T *work = B(room)(size);
  F(syevd)(&job, &uplo, &n, a, &lda, w, work, &size, integers, &count, &info, 1, 1);
  free(work);
  free(integers);
  return info;
}
/* divide: by the routine that divides and conquers. */
int B(syev)(int divide, char job, char uplo, int n, T *a, int lda, T *w) {
  if (divide) return B(library_syevd)(job, uplo, n, a, lda, w);
  int info = 0, size = -1;
  T best = 0;
  F(syev)(&job, &uplo, &n, a, &lda, w, &best, &size, &info, 1, 1);
  size = (int)best + 3 * n + 1;
  T *work = B(room)(size);
  F(syev)(&job, &uplo, &n, a, &lda, w, work, &size, &info, 1, 1);
  free(work);
  return info;
}
/* Numbers that differ by no more are equal within rounding, where the largest is this one. */
static inline T B(rounding)(T largest) {
  return 64 * (sizeof(T) == sizeof(double) ? (T)DBL_EPSILON : (T)FLT_EPSILON) * largest;
}
static T B(least_gap)(int n, const T *w) {
  T largest = 0;
  for (int i = 0; i < n; i++) largest = fabs(w[i]) > largest ? (T)fabs(w[i]) : largest;
  return B(rounding)(largest);
}
/* Each element over the difference of the column's and the row's eigenvalue; the diagonal is zero. What mixes the
 * eigenvectors of one eigenvalue has no derivative: where something depends on it, by what is in q, that is not-a-number. */
static void B(over_gaps)(int n, const T *w, T *p, const T *q) {
  T least = B(least_gap)(n, w);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      T gap = w[j] - w[i], *x = p + i + (long)j * n;
      int depends = q[i + (long)j * n] != 0 || q[j + (long)i * n] != 0;
      *x = i == j ? 0 : fabs(gap) > least ? *x / gap : depends ? (T)NAN : 0;
    }
}
int B(syev_fwd)(int divide, char job, char uplo, int n, T *a, T *da, int lda, T *w, T *dw) {
  T *v = B(room)(4L * n * n + n), *p = v + (long)n * n, *q = p + (long)n * n, *own = q + 2L * n * n;
  int upper = B(is)(uplo, 'U'), vectors = B(is)(job, 'V');
  B(keep_matrix)(v, n, n, a, lda);
  int info = B(syev)(divide, job, uplo, n, a, lda, w);
  if (info) {
    if (da) B(poison)(da, lda, n, n);
    if (dw) B(poison)(dw, n, n, 1);
  } else if (da) {
    B(syev)(divide, 'V', uplo, n, v, n, own);
    B(take)(p, upper, n, da, lda, 1);
    B(gemm)('T', 'N', n, n, n, 1, v, n, p, n, 0, q, n);
    B(gemm)('N', 'N', n, n, n, 1, q, n, v, n, 0, p, n);
    for (int i = 0; dw && i < n; i++) dw[i] = p[i + (long)i * n];
    if (vectors) {
      B(keep_matrix)(q, n, n, p, n);
      B(over_gaps)(n, own, p, q);
      B(gemm)('N', 'N', n, n, n, 1, v, n, p, n, 0, da, lda);
    } else {
      B(scale_matrix)(da, lda, n, n, 0);
    }
  } else if (dw) {
    for (int i = 0; i < n; i++) dw[i] = 0;
  }
  free(v);
  return info;
}
/* info, the eigenvalues and the eigenvectors */
void *B(syev_save)(int divide, char job, char uplo, int n, T *a, int lda, T *w, int *info) {
  T *saved = B(room)((long)n * n + n + 1);
  B(keep_matrix)(saved + n + 1, n, n, a, lda);
  *info = B(syev)(divide, job, uplo, n, a, lda, w);
  B(syev)(divide, 'V', uplo, n, saved + n + 1, n, saved + 1);
  saved[0] = *info;
  return saved;
}
void B(syev_rev)(int divide, char job, char uplo, int n, T *a, T *da, int lda, T *w, T *dw, void *saved) {
  T *info = saved, *own = info + 1, *v = own + n, *p = B(room)(2L * n * n), *q = p + (long)n * n;
  int upper = B(is)(uplo, 'U'), vectors = B(is)(job, 'V');
  if (da && *info != 0) B(poison)(da, lda, n, n);
  if (da && *info == 0) {
    B(scale_matrix)(p, n, n, n, 0);
    if (vectors) {
      B(gemm)('T', 'N', n, n, n, 1, v, n, da, lda, 0, q, n);
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) p[i + (long)j * n] = (q[i + (long)j * n] - q[j + (long)i * n]) / 2;
      B(over_gaps)(n, own, p, q);
    }
    for (int i = 0; dw && i < n; i++) p[i + (long)i * n] = dw[i];
    B(gemm)('N', 'N', n, n, n, 1, v, n, p, n, 0, q, n);
    B(gemm)('N', 'T', n, n, n, 1, q, n, v, n, 0, p, n);
    B(scale_matrix)(da, lda, n, n, 0);
    for (int j = 0; j < n; j++)
      for (int i = j; i < n; i++) da[B(at)(upper, i, j, lda)] = p[i + (long)j * n] * (i == j ? 1 : 2);
  }
  for (int i = 0; dw && i < n; i++) dw[i] = 0;
  free(p);
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(syev), B(syev_fwd), B(syev_rev), B(syev_save));

/* X = M^+ B with M = op(A), of full rank: least squares, or the least solution. */

extern void F(gels)(const char *, const int *, const int *, const int *, T *, const int *, T *, const int *, T *, const int *,
                    int *, size_t);
static int B(library_gels)(char trans, int m, int n, int nrhs, T *a, int lda, T *b, int ldb) {
  int info = 0, size = -1;
  T best = 0;
  F(gels)(&trans, &m, &n, &nrhs, a, &lda, b, &ldb, &best, &size, &info, 1);
  size = (int)best + m + n + nrhs + 1;
  T *work = B(room)(size);
  F(gels)(&trans, &m, &n, &nrhs, a, &lda, b, &ldb, work, &size, &info, 1);
  free(work);
  return info;
}
static inline int B(rows_of)(char trans, int m, int n) { return B(is)(trans, 'N') ? m : n; }
int B(least)(char trans, int m, int n, int nrhs, const T *a, int lda, const T *b, int ldb, T *x, int ldx) {
  int rows = B(rows_of)(trans, m, n), columns = m + n - rows, most = m > n ? m : n;
  T *own = B(room)((long)m * n + (long)most * nrhs), *y = own + (long)m * n;
  B(keep_matrix)(own, m, n, a, lda);
  for (int j = 0; j < nrhs; j++)
    for (int i = 0; i < most; i++) y[i + (long)j * most] = i < rows ? b[i + (long)j * ldb] : 0;
  int info = B(library_gels)(trans, m, n, nrhs, own, m, y, most);
  for (int j = 0; j < nrhs; j++)
    for (int i = 0; i < columns; i++) x[i + (long)j * ldx] = y[i + (long)j * most];
  free(own);
  return info;
}
/* to += M y, or M^T y */
static void B(times)(char trans, int transposed, int m, int n, int nrhs, T factor, const T *a, int lda, const T *y, int ldy,
                     T *to, int ldt) {
  char op = transposed ? B(flip)(trans) : trans;
  int rows = B(rows_of)(op, m, n);
  B(gemm)(op, 'N', rows, nrhs, m + n - rows, factor, a, lda, y, ldy, 1, to, ldt);
}
/* With R = B - M X: dX = M^+ (dB - dM X) + M^+ M^+T dM^T R + (I - M^+ M) dM^T M^+T X */
int B(least_fwd)(char trans, int m, int n, int nrhs, const T *a, const T *da, int lda, const T *b, const T *db, int ldb, T *x,
                 T *dx, int ldx) {
  int rows = B(rows_of)(trans, m, n), columns = m + n - rows;
  int info = B(least)(trans, m, n, nrhs, a, lda, b, ldb, x, ldx);
  if (!dx) return info;
  if (info) {
    B(poison)(dx, ldx, columns, nrhs);
    return info;
  }
  B(scale_matrix)(dx, ldx, columns, nrhs, 0);
  T *r = B(room)(2L * (rows + columns) * nrhs), *s = r + (long)rows * nrhs, *t = s + (long)rows * nrhs;
  T *u = t + (long)columns * nrhs;
  for (int j = 0; j < nrhs; j++)
    for (int i = 0; i < rows; i++) {
      r[i + (long)j * rows] = b[i + (long)j * ldb];
      s[i + (long)j * rows] = db ? db[i + (long)j * ldb] : 0;
    }
  if (da) {
    B(times)(trans, 0, m, n, nrhs, -1, a, lda, x, ldx, r, rows);
    B(times)(trans, 0, m, n, nrhs, -1, da, lda, x, ldx, s, rows);
    /* To s comes M^+T dM^T R, so that one M^+ serves both. */
    B(scale_matrix)(t, columns, columns, nrhs, 0);
    B(times)(trans, 1, m, n, nrhs, 1, da, lda, r, rows, t, columns);
    B(least)(B(flip)(trans), m, n, nrhs, a, lda, t, columns, r, rows);
    B(add_matrix)(s, rows, rows, nrhs, 1, r, rows);
    /* The last term */
    B(least)(B(flip)(trans), m, n, nrhs, a, lda, x, ldx, r, rows);
    B(times)(trans, 1, m, n, nrhs, 1, da, lda, r, rows, dx, ldx);
    B(scale_matrix)(r, rows, rows, nrhs, 0);
    B(times)(trans, 0, m, n, nrhs, 1, a, lda, dx, ldx, r, rows);
    B(least)(trans, m, n, nrhs, a, lda, r, rows, u, columns);
    B(add_matrix)(dx, ldx, columns, nrhs, -1, u, columns);
  }
  B(least)(trans, m, n, nrhs, a, lda, s, rows, u, columns);
  B(add_matrix)(dx, ldx, columns, nrhs, 1, u, columns);
  free(r);
  return info;
}
/* info, A, B and X */
void *B(least_save)(char trans, int m, int n, int nrhs, const T *a, int lda, const T *b, int ldb, T *x, int ldx, int *info) {
  int rows = B(rows_of)(trans, m, n), columns = m + n - rows;
  T *saved = B(room)((long)m * n + (long)(m + n) * nrhs + 1);
  *info = B(least)(trans, m, n, nrhs, a, lda, b, ldb, x, ldx);
  saved[0] = *info;
  T *next = B(keep_matrix)(B(keep_matrix)(saved + 1, m, n, a, lda), rows, nrhs, b, ldb);
  B(keep_matrix)(next, columns, nrhs, x, ldx);
  return saved;
}
/* With Y = M^+T X', the adjoint of M is -Y X^T + R (M^+ Y)^T + M^+T X (X' - M^T Y)^T, that of B is Y. */
void B(least_rev)(char trans, int m, int n, int nrhs, const T *a, T *da, int lda, const T *b, T *db, int ldb, T *x, T *dx,
                  int ldx, void *saved) {
  int rows = B(rows_of)(trans, m, n), columns = m + n - rows;
  T *info = saved, *sa = info + 1, *r = sa + (long)m * n, *sx = r + (long)rows * nrhs;
  if (dx && *info != 0) {
    if (da) B(poison)(da, lda, m, n);
    if (db) B(poison)(db, ldb, rows, nrhs);
  }
  if (dx && *info == 0) {
    T *y = B(room)(2L * (m + n) * nrhs), *z = y + (long)rows * nrhs, *u = z + (long)rows * nrhs, *g = u + (long)columns * nrhs;
    B(least)(B(flip)(trans), m, n, nrhs, sa, m, dx, ldx, y, rows);
    if (db) B(add_matrix)(db, ldb, rows, nrhs, 1, y, rows);
    if (da) {
      B(times)(trans, 0, m, n, nrhs, -1, sa, m, sx, columns, r, rows);
      B(least)(trans, m, n, nrhs, sa, m, y, rows, u, columns);
      B(least)(B(flip)(trans), m, n, nrhs, sa, m, sx, columns, z, rows);
      B(keep_matrix)(g, columns, nrhs, dx, ldx);
      B(times)(trans, 1, m, n, nrhs, -1, sa, m, y, rows, g, columns);
      int plain = B(is)(trans, 'N');
#define OUTER(factor, left, right) \
  if (plain) B(gemm)('N', 'T', m, n, nrhs, factor, left, rows, right, columns, 1, da, lda); \
  else B(gemm)('N', 'T', m, n, nrhs, factor, right, columns, left, rows, 1, da, lda);
      OUTER(-1, y, sx)
      OUTER(1, r, u)
      OUTER(1, z, g)
#undef OUTER
    }
    free(y);
  }
  if (dx) B(scale_matrix)(dx, ldx, columns, nrhs, 0);
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(least), B(least_fwd), B(least_rev), B(least_save));

/* What gels leaves besides the solution: factors in A, and below the solution what is left of B. These have no derivative. */
void B(leave)(char trans, int m, int n, int nrhs, T *a, int lda, T *b, int ldb) {
  B(library_gels)(trans, m, n, nrhs, a, lda, b, ldb);
}
static void B(unknown)(int m, int n, T *d, int ldd, int reverse) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) d[i + (long)j * ldd] = reverse && d[i + (long)j * ldd] == 0 ? 0 : NAN;
}
void B(leave_fwd)(char trans, int m, int n, int nrhs, T *a, T *da, int lda, T *b, T *db, int ldb) {
  B(leave)(trans, m, n, nrhs, a, lda, b, ldb);
  if (da) B(unknown)(m, n, da, lda, 0);
  if (db) B(unknown)(m > n ? m : n, nrhs, db, ldb, 0);
}
void B(leave_rev)(char trans, int m, int n, int nrhs, T *a, T *da, int lda, T *b, T *db, int ldb) {
  if (da) B(unknown)(m, n, da, lda, 1);
  if (db) B(unknown)(m > n ? m : n, nrhs, db, ldb, 1);
}
FFGRAD_DERIVATIVES(B(leave), B(leave_fwd), B(leave_rev));
static int B(gels)(char trans, int m, int n, int nrhs, T *a, int lda, T *b, int ldb) {
  int columns = m + n - B(rows_of)(trans, m, n);
  T *x = B(room)((long)columns * nrhs);
  int info = B(least)(trans, m, n, nrhs, a, lda, b, ldb, x, columns);
  B(leave)(trans, m, n, nrhs, a, lda, b, ldb);
  for (int j = 0; j < nrhs; j++)
    for (int i = 0; i < columns; i++) b[i + (long)j * ldb] = x[i + (long)j * columns];
  free(x);
  return info;
}

/* The Fortran names. A size of -1 asks for that of the workspace, which is not used here. */

void B(syev_)(const char *job, const char *uplo, const int *n, T *a, const int *lda, T *w, T *work, const int *size, int *info) {
  if (*size == -1) {
    work[0] = 3 * *n + 1;
    *info = 0;
    return;
  }
  *info = B(syev)(0, *job, *uplo, *n, a, *lda, w);
}
void B(syevd_)(const char *job, const char *uplo, const int *n, T *a, const int *lda, T *w, T *work, const int *size,
               int *integers, const int *count, int *info) {
  if (*size == -1 || *count == -1) {
    work[0] = 1 + 6 * *n + 2 * *n * *n;
    integers[0] = 3 + 5 * *n;
    *info = 0;
    return;
  }
  *info = B(syev)(1, *job, *uplo, *n, a, *lda, w);
}
void B(gels_)(const char *trans, const int *m, const int *n, const int *nrhs, T *a, const int *lda, T *b, const int *ldb,
              T *work, const int *size, int *info) {
  if (*size == -1) {
    work[0] = *m + *n + *nrhs + 1;
    *info = 0;
    return;
  }
  *info = B(gels)(*trans, *m, *n, *nrhs, a, *lda, b, *ldb);
}

/* LAPACKE. Rows first in memory (101) become columns first in a copy, and back. */

static T *B(columns_of)(int order, int m, int n, T *a, int lda) {
  if (order != ROWS) return a;
  T *to = B(room)((long)m * n);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) to[i + (long)j * m] = a[j + (long)i * lda];
  return to;
}
static void B(rows_from)(int order, int m, int n, T *from, T *a, int lda) {
  if (order != ROWS) return;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) a[j + (long)i * lda] = from[i + (long)j * m];
  free(from);
}
#define STEP(order, rows, lda) ((order) == ROWS ? (rows) : (lda))
int E(potrf)(int order, char uplo, int n, T *a, int lda) {
  T *c = B(columns_of)(order, n, n, a, lda);
  int info = B(potrf)(uplo, n, c, STEP(order, n, lda));
  B(rows_from)(order, n, n, c, a, lda);
  return info;
}
int E(potrs)(int order, char uplo, int n, int nrhs, const T *a, int lda, T *b, int ldb) {
  T *c = B(columns_of)(order, n, n, (T *)a, lda), *x = B(columns_of)(order, n, nrhs, b, ldb);
  B(potrs)(uplo, n, nrhs, c, STEP(order, n, lda), x, STEP(order, n, ldb));
  if (order == ROWS) free(c);
  B(rows_from)(order, n, nrhs, x, b, ldb);
  return 0;
}
int E(posv)(int order, char uplo, int n, int nrhs, T *a, int lda, T *b, int ldb) {
  int info = E(potrf)(order, uplo, n, a, lda);
  return info ? info : E(potrs)(order, uplo, n, nrhs, a, lda, b, ldb);
}
int E(getrf)(int order, int m, int n, T *a, int lda, int *ipiv) {
  T *c = B(columns_of)(order, m, n, a, lda);
  int info = B(getrf)(m, n, c, STEP(order, m, lda), ipiv);
  B(rows_from)(order, m, n, c, a, lda);
  return info;
}
int E(getrs)(int order, char trans, int n, int nrhs, const T *a, int lda, const int *ipiv, T *b, int ldb) {
  T *c = B(columns_of)(order, n, n, (T *)a, lda), *x = B(columns_of)(order, n, nrhs, b, ldb);
  B(getrs)(trans, n, nrhs, c, STEP(order, n, lda), ipiv, x, STEP(order, n, ldb));
  if (order == ROWS) free(c);
  B(rows_from)(order, n, nrhs, x, b, ldb);
  return 0;
}
int E(gesv)(int order, int n, int nrhs, T *a, int lda, int *ipiv, T *b, int ldb) {
  T *c = B(columns_of)(order, n, n, a, lda), *x = B(columns_of)(order, n, nrhs, b, ldb);
  int info = B(gesv)(n, nrhs, c, STEP(order, n, lda), ipiv, x, STEP(order, n, ldb));
  B(rows_from)(order, n, n, c, a, lda);
  B(rows_from)(order, n, nrhs, x, b, ldb);
  return info;
}
static int B(syev_by_rows)(int divide, int order, char job, char uplo, int n, T *a, int lda, T *w) {
  T *c = B(columns_of)(order, n, n, a, lda);
  int info = B(syev)(divide, job, uplo, n, c, STEP(order, n, lda), w);
  B(rows_from)(order, n, n, c, a, lda);
  return info;
}
int E(syev)(int order, char job, char uplo, int n, T *a, int lda, T *w) { return B(syev_by_rows)(0, order, job, uplo, n, a, lda, w); }
int E(syevd)(int order, char job, char uplo, int n, T *a, int lda, T *w) { return B(syev_by_rows)(1, order, job, uplo, n, a, lda, w); }
int E(gels)(int order, char trans, int m, int n, int nrhs, T *a, int lda, T *b, int ldb) {
  int most = m > n ? m : n;
  T *c = B(columns_of)(order, m, n, a, lda), *x = B(columns_of)(order, most, nrhs, b, ldb);
  int info = B(gels)(trans, m, n, nrhs, c, STEP(order, m, lda), x, STEP(order, most, ldb));
  B(rows_from)(order, m, n, c, a, lda);
  B(rows_from)(order, most, nrhs, x, b, ldb);
  return info;
}
