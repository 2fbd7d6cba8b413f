// A Gram matrix and what is solved with it, in single precision.
void ssyrk_(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha, const float* a, const int* lda,
            const float* beta, float* c, const int* ldc);
void cblas_strmv(int order, int uplo, int trans, int diag, int n, const float* a, int lda, float* x, int incx);
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void spotri_(const char* uplo, const int* n, float* a, const int* lda, int* info);
float slange_(const char* norm, const int* m, const int* n, const float* a, const int* lda, float* work);

float gram(const float* X, float* b, int m, int n) {
  float c[64] = {0}, one = 1, none = 0, work[8];
  int info;
  ssyrk_("U", "N", &n, &m, &one, X, &n, &none, c, &n);
  for (int i = 0; i < n; i++) c[i * (n + 1)] += 1;
  spotrf_("U", &n, c, &n, &info);
  spotri_("U", &n, c, &n, &info);
  cblas_strmv(102, 121, 112, 131, n, c, n, b, 1);
  return slange_("F", &n, &n, c, &n, work);
}
