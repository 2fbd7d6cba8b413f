// The upper Cholesky factor and a solution with it, in single precision.
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void spotrs_(const char* uplo, const int* n, const int* nrhs, const float* a, const int* lda, float* b, const int* ldb,
             int* info);

void factor(float* S, float* b, int n) {
  int info, one = 1;
  spotrf_("U", &n, S, &n, &info);
  spotrs_("U", &n, &one, S, &n, b, &n, &info);
}
