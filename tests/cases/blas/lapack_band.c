// Systems with few diagonals: a band that exchanges rows, three diagonals with and without symmetry.
void dgbsv_(const int* n, const int* kl, const int* ku, const int* nrhs, double* ab, const int* ldab, int* ipiv, double* b, const int* ldb,
            int* info);
void dgbtrs_(const char* trans, const int* n, const int* kl, const int* ku, const int* nrhs, const double* ab, const int* ldab,
             const int* ipiv, double* b, const int* ldb, int* info);
void dgtsv_(const int* n, const int* nrhs, double* dl, double* d, double* du, double* b, const int* ldb, int* info);
void dptsv_(const int* n, const int* nrhs, double* d, double* e, double* b, const int* ldb, int* info);
void dpbsv_(const char* uplo, const int* n, const int* kd, const int* nrhs, double* ab, const int* ldab, double* b, const int* ldb,
            int* info);

// The columns of A with one diagonal below and two above; then A^T; then the tridiagonal parts.
void bands(const double* A, double* b, double* c, int n) {
  double ab[5 * 8] = {0}, dl[8], d[8], du[8];
  int ipiv[8], info, one = 1, two = 2, kl = 1, ku = 2, ldab = 5;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      if (i <= j + kl && j <= i + ku) ab[kl + ku + i - j + j * ldab] = A[i * n + j];
  dgbsv_(&n, &kl, &ku, &two, ab, &ldab, ipiv, b, &n, &info);
  dgbtrs_("T", &n, &kl, &ku, &one, ab, &ldab, ipiv, b, &n, &info);
  for (int i = 0; i < n; i++) {
    d[i] = A[i * n + i];
    if (i + 1 < n) dl[i] = A[(i + 1) * n + i];
    if (i + 1 < n) du[i] = A[i * n + i + 1];
  }
  dgtsv_(&n, &one, dl, d, du, c, &n, &info);
  for (int i = 0; i < n; i++) {
    d[i] = 4 + A[i * n + i] * A[i * n + i];
    if (i + 1 < n) du[i] = A[i * n + i + 1];
  }
  for (int i = 0; i < n; i++) {
    ab[1 + 2 * i] = d[i];
    if (i + 1 < n) ab[2 + 2 * i] = du[i];
  }
  dptsv_(&n, &one, d, du, c, &n, &info);
  dpbsv_("U", &n, &one, &one, ab, &two, c, &n, &info);
}
