/* LAPACK in one precision: expert drivers (gesvx, posvx, gbsvx). They solve as the others do, and report errors besides.
 *
 * The numbers are the library's; the derivative of the solution is that of the factorisation. A condition number has none that is known,
 * bounds of errors have none. What they say of scaling (equed) is that there was none: the matrix and the right-hand side stay as they are.
 *
 * Source: the reference LAPACK (netlib.org/lapack) for what the names mean.
 */
#include <ffgrad/rules/values.h>

extern void F(gesvx)(const char *, const char *, const int *, const int *, T *, const int *, T *, const int *, int *, char *, T *, T *, T *,
                     const int *, T *, const int *, T *, T *, T *, T *, int *, int *, size_t, size_t, size_t);
extern void F(posvx)(const char *, const char *, const int *, const int *, T *, const int *, T *, const int *, char *, T *, T *, const int *,
                     T *, const int *, T *, T *, T *, T *, int *, int *, size_t, size_t, size_t);
extern void F(gbsvx)(const char *, const char *, const int *, const int *, const int *, const int *, T *, const int *, T *, const int *,
                     int *, char *, T *, T *, T *, const int *, T *, const int *, T *, T *, T *, T *, int *, int *, size_t, size_t, size_t);

/* The library, on copies: a matrix ('G'), a definite one ('P') or a band ('B'), which has kl and ku diagonals beside the main one. x, ferr and
 * berr are its, without derivatives. Returns the condition number. */
T B(experts)(char which, char fact, char letter, int n, int kl, int ku, int nrhs, const T *a, int lda, const T *b, int ldb, T *x, T *ferr,
             T *berr) {
  int info = 0, rows = which == 'B' ? kl + ku + 1 : n, ldf = which == 'B' ? rows + kl : n;
  char scaled = B(is)(fact, 'E') ? 'E' : 'N', equed = 'N';
  T rcond = 0, *ca = B(room)((long)rows * n + (long)ldf * n + 6L * n + (long)n * nrhs), *af = ca + (long)rows * n;
  T *r = af + (long)ldf * n, *c = r + n, *work = c + n, *cb = work + 4L * n;
  int *ipiv = malloc((2L * n + 1) * sizeof(int)), *integers = ipiv + n;
  B(keep_matrix)(ca, rows, n, a, lda);
  B(keep_matrix)(cb, n, nrhs, b, ldb);
  if (which == 'G')
    F(gesvx)(&scaled, &letter, &n, &nrhs, ca, &n, af, &n, ipiv, &equed, r, c, cb, &n, x, &n, &rcond, ferr, berr, work, integers, &info, 1, 1,
             1);
  if (which == 'P')
    F(posvx)(&scaled, &letter, &n, &nrhs, ca, &n, af, &n, &equed, r, cb, &n, x, &n, &rcond, ferr, berr, work, integers, &info, 1, 1, 1);
  if (which == 'B')
    F(gbsvx)(&scaled, &letter, &n, &kl, &ku, &nrhs, ca, &rows, af, &ldf, ipiv, &equed, r, c, cb, &n, x, &n, &rcond, ferr, berr, work,
             integers, &info, 1, 1, 1);
  free(ca);
  free(ipiv);
  return rcond;
}
T B(experts_fwd)(char which, char fact, char letter, int n, int kl, int ku, int nrhs, const T *a, const T *da, int lda, const T *b,
                 const T *db, int ldb, T *x, T *dx, T *ferr, T *dferr, T *berr, T *dberr, T *dr) {
  *dr = B(any)(da, which == 'B' ? kl + ku + 1 : n, n, lda) ? (T)NAN : 0;
  B(clear)(dx, n, nrhs, n);
  B(clear)(dferr, nrhs, 1, nrhs);
  B(clear)(dberr, nrhs, 1, nrhs);
  return B(experts)(which, fact, letter, n, kl, ku, nrhs, a, lda, b, ldb, x, ferr, berr);
}
void B(experts_rev)(char which, char fact, char letter, int n, int kl, int ku, int nrhs, const T *a, T *da, int lda, const T *b, T *db, int ldb,
                    T *x, T *dx, T *ferr, T *dferr, T *berr, T *dberr, T dr) {
  if (da && dr != 0) B(poison)(da, lda, which == 'B' ? kl + ku + 1 : n, n);
  B(clear)(dx, n, nrhs, n);
  B(clear)(dferr, nrhs, 1, nrhs);
  B(clear)(dberr, nrhs, 1, nrhs);
}
FFGRAD_DERIVATIVES(B(experts), B(experts_fwd), B(experts_rev));

int B(is_small)(const T *x, T limit) { return !(*x >= limit); }
FFGRAD_INACTIVE(B(is_small));
static void B(expert)(char which, char fact, char letter, int n, int kl, int ku, int nrhs, const T *a, int lda, T *af, int ldaf, int *ipiv, const T *b, int ldb, T *x, int ldx, T *rcond, T *ferr,
                      T *berr, int *info) {
  int failed = 0, skip = which == 'B' ? kl : 0, rows = which == 'B' ? kl + ku + 1 : n;
  T *solution = B(room)((long)n * nrhs);
  *rcond = B(experts)(which, fact, letter, n, kl, ku, nrhs, a, lda, b, ldb, solution, ferr, berr);
  for (int j = 0; j < nrhs; j++)
    for (int i = 0; i < n; i++) x[i + (long)j * ldx] = b[i + (long)j * ldb];
  if (!B(is)(fact, 'F')) {
    for (int j = 0; j < n; j++)
      for (int i = 0; i < rows; i++) af[skip + i + (long)j * ldaf] = a[i + (long)j * lda];
    if (which == 'G') failed = B(getrf)(n, n, af, ldaf, ipiv);
    if (which == 'P') failed = B(potrf)(letter, n, af, ldaf);
    if (which == 'B') failed = B(gbtrf)(n, n, kl, ku, af, ldaf, ipiv);
  }
  if (!failed) {
    if (which == 'G') B(getrs)(letter, n, nrhs, af, ldaf, ipiv, x, ldx);
    if (which == 'P') B(potrs)(letter, n, nrhs, af, ldaf, x, ldx);
    if (which == 'B') B(gbtrs)(letter, n, kl, ku, nrhs, af, ldaf, ipiv, x, ldx);
    for (int j = 0; j < nrhs; j++)
      for (int i = 0; i < n; i++) x[i + (long)j * ldx] = (T)ffgrad_value(solution[i + (long)j * n], x[i + (long)j * ldx]);
  }
  /* As the library says of a matrix that is singular within rounding. */
  *info = failed ? failed : B(is_small)(rcond, sizeof(T) == sizeof(double) ? (T)1.1e-16 : (T)6e-8) ? n + 1 : 0;
  free(solution);
}
void B(gesvx_)(const char *fact, const char *trans, const int *n, const int *nrhs, T *a, const int *lda, T *af, const int *ldaf, int *ipiv,
               char *equed, T *r, T *c, T *b, const int *ldb, T *x, const int *ldx, T *rcond, T *ferr, T *berr, T *work, int *integers,
               int *info) {
  *equed = 'N';
  B(expert)('G', *fact, *trans, *n, 0, 0, *nrhs, a, *lda, af, *ldaf, ipiv, b, *ldb, x, *ldx, rcond, ferr, berr, info);
}
void B(posvx_)(const char *fact, const char *uplo, const int *n, const int *nrhs, T *a, const int *lda, T *af, const int *ldaf, char *equed,
               T *s, T *b, const int *ldb, T *x, const int *ldx, T *rcond, T *ferr, T *berr, T *work, int *integers, int *info) {
  *equed = 'N';
  B(expert)('P', *fact, *uplo, *n, 0, 0, *nrhs, a, *lda, af, *ldaf, NULL, b, *ldb, x, *ldx, rcond, ferr, berr, info);
}
void B(gbsvx_)(const char *fact, const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs, T *ab, const int *ldab,
               T *afb, const int *ldafb, int *ipiv, char *equed, T *r, T *c, T *b, const int *ldb, T *x, const int *ldx, T *rcond, T *ferr,
               T *berr, T *work, int *integers, int *info) {
  *equed = 'N';
  B(expert)('B', *fact, *trans, *n, *kl, *ku, *nrhs, ab, *ldab, afb, *ldafb, ipiv, b, *ldb, x, *ldx, rcond, ferr, berr, info);
}
