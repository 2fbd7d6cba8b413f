/* LAPACK in one precision: norms (lange, lansy, langb, lantr), estimates of condition numbers (gecon, pocon, gbcon, trcon), and least
 * squares that look at the rank (gelsd, gelss, gelsy).
 *
 * A norm has the derivative of the elements that it is made of. An estimate serves a decision or a warning: its derivative is not known,
 * and what depends on it is not-a-number. Least squares of full rank are those of gels.
 *
 * Source: the reference LAPACK (netlib.org/lapack) for what the names mean.
 */

/* A matrix by its diagonals: kl below the main one, ku above. `unit` has ones on the main one, `mirrored` is one half of a symmetric matrix.
 * With lda one less than that of a band, the elements of a band stand where those of a full matrix stand. */
typedef struct {
  int m, n, kl, ku, lda, unit, mirrored;
} B(shape_t);
static inline int B(from_row)(B(shape_t) s, int j) { return j > s.ku ? j - s.ku : 0; }
static inline int B(to_row)(B(shape_t) s, int j) { return s.m - j > s.kl + 1 ? j + s.kl + 1 : s.m; }

/* The place of the largest element that is not on a diagonal of ones; -1 where there is none. */
long B(largest)(const T *a, int m, int n, int kl, int ku, int lda, int unit) {
  B(shape_t) s = {m, n, kl, ku, lda, unit, 0};
  long best = -1;
  for (int j = 0; j < n; j++)
    for (int i = B(from_row)(s, j); i < B(to_row)(s, j); i++)
      if (!(unit && i == j) && (best < 0 || fabs(a[i + (long)j * lda]) > fabs(a[best]))) best = i + (long)j * lda;
  return best;
}
FFGRAD_INACTIVE(B(largest));
int B(less_than_one)(const T *x) { return fabs(*x) < 1; }
FFGRAD_INACTIVE(B(less_than_one));

static T B(largest_norm)(B(shape_t) s, const T *a) {
  long at = B(largest)(a, s.m, s.n, s.kl, s.ku, s.lda, s.unit);
  if (at < 0 || (s.unit && B(less_than_one)(a + at))) return s.unit ? 1 : 0;
  return (T)fabs(a[at]);
}
static T B(sum_norm)(B(shape_t) s, const T *a, int rows) {
  int count = s.m > s.n ? s.m : s.n;
  T *sums = B(room)(count);
  for (int i = 0; i < count; i++) sums[i] = 0;
  for (int j = 0; j < s.n; j++)
    for (int i = B(from_row)(s, j); i < B(to_row)(s, j); i++) {
      T value = s.unit && i == j ? 1 : (T)fabs(a[i + (long)j * s.lda]);
      sums[rows ? i : j] += value;
      if (s.mirrored && i != j) sums[rows ? j : i] += value;
    }
  T result = sums[B(pivot_row)(count, sums)];
  free(sums);
  return result;
}
static T B(square_norm)(B(shape_t) s, const T *a) {
  T *parts = B(room)(2L * s.n);
  for (int j = 0; j < s.n; j++) {
    int from = B(from_row)(s, j), to = B(to_row)(s, j), apart = (s.unit || s.mirrored) && j < s.m;
    if (apart && s.kl == 0) to = j;
    if (apart && s.kl != 0) from = j + 1;
    parts[j] = to > from ? B(nrm2)(to - from, a + from + (long)j * s.lda, 1) * (s.mirrored ? (T)1.4142135623730951 : 1) : 0;
    parts[s.n + j] = !apart ? 0 : s.unit ? 1 : a[j + (long)j * s.lda];
  }
  T result = B(nrm2)(2 * s.n, parts, 1);
  free(parts);
  return result;
}
static T B(norm)(char kind, B(shape_t) s, const T *a) {
  if (s.m <= 0 || s.n <= 0) return 0;
  if (B(is)(kind, 'M')) return B(largest_norm)(s, a);
  if (B(is)(kind, 'I')) return B(sum_norm)(s, a, 1);
  return kind == '1' || B(is)(kind, 'O') ? B(sum_norm)(s, a, 0) : B(square_norm)(s, a);
}
T B(lange_)(const char *kind, const int *m, const int *n, const T *a, const int *lda, T *work) {
  B(shape_t) s = {*m, *n, *m, *n, *lda, 0, 0};
  return B(norm)(*kind, s, a);
}
T B(langb_)(const char *kind, const int *n, const int *kl, const int *ku, const T *ab, const int *ldab, T *work) {
  B(shape_t) s = {*n, *n, *kl, *ku, *ldab - 1, 0, 0};
  return B(norm)(*kind, s, ab + *ku);
}
T B(lansy_)(const char *kind, const char *uplo, const int *n, const T *a, const int *lda, T *work) {
  int upper = B(is)(*uplo, 'U');
  B(shape_t) s = {*n, *n, upper ? 0 : *n, upper ? *n : 0, *lda, 0, 1};
  return B(norm)(*kind, s, a);
}
T B(lantr_)(const char *kind, const char *uplo, const char *diag, const int *m, const int *n, const T *a, const int *lda, T *work) {
  int upper = B(is)(*uplo, 'U');
  B(shape_t) s = {*m, *n, upper ? 0 : *m, upper ? *n : 0, *lda, B(is)(*diag, 'U'), 0};
  return B(norm)(*kind, s, a);
}
T E(lange)(int order, char kind, int m, int n, const T *a, int lda) {
  T *c = B(columns_of)(order, m, n, (T *)a, lda);
  int step = STEP(order, m, lda);
  T result = B(lange_)(&kind, &m, &n, c, &step, NULL);
  if (order == ROWS) free(c);
  return result;
}

static int B(any)(const T *a, int m, int n, int lda) {
  int found = 0;
  for (int j = 0; a && j < n; j++)
    for (int i = 0; i < m; i++) found |= a[i + (long)j * lda] != 0;
  return found;
}
static void B(clear)(T *a, int m, int n, int lda) {
  if (a) B(scale_matrix)(a, lda, m, n, 0);
}

/* Estimates: of a matrix ('G'), a definite one ('P'), a band ('B'), a triangle ('T'), of the last from themselves, else from their factors. */

extern void F(gecon)(const char *, const int *, const T *, const int *, const T *, T *, T *, int *, int *, size_t);
extern void F(pocon)(const char *, const int *, const T *, const int *, const T *, T *, T *, int *, int *, size_t);
extern void F(gbcon)(const char *, const int *, const int *, const int *, const T *, const int *, const int *, const T *, T *, T *, int *,
                     int *, size_t);
extern void F(trcon)(const char *, const char *, const char *, const int *, const T *, const int *, T *, T *, int *, int *, size_t,
                     size_t, size_t);
T B(condition)(char which, char kind, char uplo, char diag, int n, int kl, int ku, const T *a, int lda, const int *ipiv, T norm) {
  T rcond = 0, *work = B(room)(4L * n);
  int info = 0, *integers = malloc((n + 1) * sizeof(int));
  if (which == 'G') F(gecon)(&kind, &n, a, &lda, &norm, &rcond, work, integers, &info, 1);
  if (which == 'P') F(pocon)(&uplo, &n, a, &lda, &norm, &rcond, work, integers, &info, 1);
  if (which == 'B') F(gbcon)(&kind, &n, &kl, &ku, a, &lda, ipiv, &norm, &rcond, work, integers, &info, 1);
  if (which == 'T') F(trcon)(&kind, &uplo, &diag, &n, a, &lda, &rcond, work, integers, &info, 1, 1, 1);
  free(work);
  free(integers);
  return rcond;
}
T B(condition_fwd)(char which, char kind, char uplo, char diag, int n, int kl, int ku, const T *a, const T *da, int lda, const int *ipiv,
                   const int *unused, T norm, T dnorm, T *dr) {
  int rows = which == 'B' ? 2 * kl + ku + 1 : n;
  *dr = dnorm != 0 || B(any)(da, rows, n, lda) ? (T)NAN : 0;
  return B(condition)(which, kind, uplo, diag, n, kl, ku, a, lda, ipiv, norm);
}
void B(condition_rev)(char which, char kind, char uplo, char diag, int n, int kl, int ku, const T *a, T *da, int lda, const int *ipiv,
                      const int *unused, T norm, T *dnorm, T dr) {
  if (dr == 0) return;
  *dnorm = (T)NAN;
  if (da) B(poison)(da, lda, which == 'B' ? 2 * kl + ku + 1 : n, n);
}
FFGRAD_DERIVATIVES(B(condition), B(condition_fwd), B(condition_rev));
void B(gecon_)(const char *kind, const int *n, const T *a, const int *lda, const T *norm, T *rcond, T *work, int *integers, int *info) {
  *rcond = B(condition)('G', *kind, 'U', 'N', *n, 0, 0, a, *lda, NULL, *norm);
  *info = 0;
}
void B(pocon_)(const char *uplo, const int *n, const T *a, const int *lda, const T *norm, T *rcond, T *work, int *integers, int *info) {
  *rcond = B(condition)('P', '1', *uplo, 'N', *n, 0, 0, a, *lda, NULL, *norm);
  *info = 0;
}
void B(gbcon_)(const char *kind, const int *n, const int *kl, const int *ku, const T *ab, const int *ldab, const int *ipiv,
               const T *norm, T *rcond, T *work, int *integers, int *info) {
  *rcond = B(condition)('B', *kind, 'U', 'N', *n, *kl, *ku, ab, *ldab, ipiv, *norm);
  *info = 0;
}
void B(trcon_)(const char *kind, const char *uplo, const char *diag, const int *n, const T *a, const int *lda, T *rcond, T *work,
               int *integers, int *info) {
  *rcond = B(condition)('T', *kind, *uplo, *diag, *n, 0, 0, a, *lda, NULL, 1);
  *info = 0;
}

/* gelsd, gelss, gelsy: the library's answer where columns or rows depend on one another, which has no derivative; else that of gels. */

extern void F(gelsd)(const int *, const int *, const int *, T *, const int *, T *, const int *, T *, const T *, int *, T *, const int *,
                     int *, int *);
/* Leaves the solution in x, of so many rows as the longer side has, and singular values in s; returns info. */
int B(ranked)(int m, int n, int nrhs, const T *a, int lda, const T *b, int ldb, T *x, T *s, T rcond, int *rank) {
  int info = 0, size = -1, first = 0, *integers = &first, most = m > n ? m : n;
  T best = 0, *work = &best, *copy = B(room)((long)m * n);
  B(keep_matrix)(copy, m, n, a, lda);
  for (int j = 0; j < nrhs; j++)
    for (int i = 0; i < most; i++) x[i + (long)j * most] = i < m ? b[i + (long)j * ldb] : 0;
  for (int step = 0; step < 2 && info == 0; step++) {
    F(gelsd)(&m, &n, &nrhs, copy, &m, x, &most, s, &rcond, rank, work, &size, integers, &info);
    if (step == 0) {
      size = (int)best;
      work = B(room)(size);
      integers = malloc((first + 1) * sizeof(int));
    }
  }
  if (work != &best) free(work);
  if (integers != &first) free(integers);
  free(copy);
  return info;
}
int B(ranked_fwd)(int m, int n, int nrhs, const T *a, const T *da, int lda, const T *b, const T *db, int ldb, T *x, T *dx, T *s, T *ds,
                  T rcond, T drcond, int *rank, int *unused) {
  int few = m < n ? m : n, changed = B(any)(da, m, n, lda);
  if (ds) B(clear)(ds, few, 1, few);
  if (ds && changed) B(poison)(ds, few, few, 1);
  if (dx) B(clear)(dx, m + n - few, nrhs, m + n - few);
  if (dx && (changed || B(any)(db, m, nrhs, ldb))) B(poison)(dx, m + n - few, n, nrhs);
  return B(ranked)(m, n, nrhs, a, lda, b, ldb, x, s, rcond, rank);
}
void B(ranked_rev)(int m, int n, int nrhs, const T *a, T *da, int lda, const T *b, T *db, int ldb, T *x, T *dx, T *s, T *ds, T rcond,
                   T *drcond, int *rank, int *unused) {
  int few = m < n ? m : n, asked = B(any)(dx, m + n - few, nrhs, m + n - few);
  if (da && (asked || B(any)(ds, few, 1, few))) B(poison)(da, lda, m, n);
  if (db && asked) B(poison)(db, ldb, m, nrhs);
  B(clear)(dx, m + n - few, nrhs, m + n - few);
  B(clear)(ds, few, 1, few);
}
FFGRAD_DERIVATIVES(B(ranked), B(ranked_fwd), B(ranked_rev));
static int B(by_rank)(int m, int n, int nrhs, T *a, int lda, T *b, int ldb, T *s, T rcond, int *rank) {
  int few = m < n ? m : n, most = m + n - few;
  T *x = B(room)((long)most * nrhs), *values = B(room)(few);
  int info = B(ranked)(m, n, nrhs, a, lda, b, ldb, x, values, rcond, rank);
  for (int i = 0; s && i < few; i++) s[i] = values[i];
  if (info == 0 && *rank == few) info = B(gels)('N', m, n, nrhs, a, lda, b, ldb);
  else
    for (int j = 0; j < nrhs; j++)
      for (int i = 0; i < n; i++) b[i + (long)j * ldb] = x[i + (long)j * most];
  free(x);
  free(values);
  return info;
}
/* A size of -1 asks for that of the workspace, which is not used here. */
void B(gelsd_)(const int *m, const int *n, const int *nrhs, T *a, const int *lda, T *b, const int *ldb, T *s, const T *rcond,
               int *rank, T *work, const int *size, int *integers, int *info) {
  if (*size == -1) {
    work[0] = 1;
    integers[0] = 1;
    *info = 0;
    return;
  }
  *info = B(by_rank)(*m, *n, *nrhs, a, *lda, b, *ldb, s, *rcond, rank);
}
void B(gelss_)(const int *m, const int *n, const int *nrhs, T *a, const int *lda, T *b, const int *ldb, T *s, const T *rcond,
               int *rank, T *work, const int *size, int *info) {
  if (*size == -1) {
    work[0] = 1;
    *info = 0;
    return;
  }
  *info = B(by_rank)(*m, *n, *nrhs, a, *lda, b, *ldb, s, *rcond, rank);
}
void B(gelsy_)(const int *m, const int *n, const int *nrhs, T *a, const int *lda, T *b, const int *ldb, int *jpvt, const T *rcond,
               int *rank, T *work, const int *size, int *info) {
  if (*size == -1) {
    work[0] = 1;
    *info = 0;
    return;
  }
  *info = B(by_rank)(*m, *n, *nrhs, a, *lda, b, *ldb, NULL, *rcond, rank);
}
