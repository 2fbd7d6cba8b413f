// A system that is solved with a look at its condition number, scaled by norms; least squares with a look at the rank.
double dlange_(const char* norm, const int* m, const int* n, const double* a, const int* lda, double* work);
double dlansy_(const char* norm, const char* uplo, const int* n, const double* a, const int* lda, double* work);
double dlantr_(const char* norm, const char* uplo, const char* diag, const int* m, const int* n, const double* a, const int* lda,
               double* work);
double dlangb_(const char* norm, const int* n, const int* kl, const int* ku, const double* ab, const int* ldab, double* work);
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);
void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda, const int* ipiv, double* b, const int* ldb,
             int* info);
void dgecon_(const char* norm, const int* n, const double* a, const int* lda, const double* anorm, double* rcond, double* work, int* iwork,
             int* info);
void dgelsd_(const int* m, const int* n, const int* nrhs, double* a, const int* lda, double* b, const int* ldb, double* s,
             const double* rcond, int* rank, double* work, const int* lwork, int* iwork, int* info);
void dgesvx_(const char* fact, const char* trans, const int* n, const int* nrhs, double* a, const int* lda, double* af, const int* ldaf,
             int* ipiv, char* equed, double* r, double* c, double* b, const int* ldb, double* x, const int* ldx, double* rcond, double* ferr,
             double* berr, double* work, int* iwork, int* info);

// X has the columns of a matrix of m rows.
void solve(const double* A, const double* X, const double* b, double* u, double* v, double* norms, int n, int m) {
  double a[64], work[256], x[64], s[8], rcond, size;
  int ipiv[8], iwork[256], info, one = 1, rank, lwork = 256, zero = 0, two = 2, three = 3;
  norms[0] = dlange_("M", &n, &n, A, &n, work);
  norms[1] = dlange_("1", &n, &n, A, &n, work);
  norms[2] = dlange_("I", &n, &n, A, &n, work);
  norms[3] = dlange_("F", &n, &n, A, &n, work);
  norms[4] = dlansy_("1", "U", &n, A, &n, work);
  norms[5] = dlansy_("F", "L", &n, A, &n, work);
  norms[6] = dlantr_("I", "U", "N", &n, &n, A, &n, work);
  norms[7] = dlantr_("F", "L", "U", &n, &n, A, &n, work);
  norms[8] = dlangb_("1", &n, &zero, &two, A, &three, work);
  for (int i = 0; i < n * n; i++) a[i] = A[i];
  for (int i = 0; i < n; i++) u[i] = b[i];
  size = dlange_("1", &n, &n, a, &n, work);
  dgetrf_(&n, &n, a, &n, ipiv, &info);
  dgecon_("1", &n, a, &n, &size, &rcond, work, iwork, &info);
  if (rcond > 1e-12) dgetrs_("N", &n, &one, a, &n, ipiv, u, &n, &info);
  for (int i = 0; i < n * m; i++) x[i] = X[i];
  for (int i = 0; i < m; i++) v[i] = i < n ? b[i] : 0.5;
  rcond = -1;
  dgelsd_(&m, &n, &one, x, &m, v, &m, s, &rcond, &rank, work, &lwork, iwork, &info);
  for (int i = n; i < m; i++) v[i] = 0;
  for (int i = 0; i < n * n; i++) a[i] = A[i];
  char equed;
  double af[64], scale[16], right[8], ferr, berr;
  for (int i = 0; i < n; i++) right[i] = u[i];
  dgesvx_("E", "T", &n, &one, a, &n, af, &n, ipiv, &equed, scale, scale + 8, right, &n, u, &n, &rcond, &ferr, &berr, work, iwork, &info);
}
