/* The names of BLAS, over the functions of blas.h: C(x) is ours for cblas_?x, B(x_) for the Fortran name ?x_.
 * For matrices in C the first argument is the layout: row-major (101) or column-major (102). */
#define ROWS 101
#define LETTER(code) ((code) == 111 ? 'N' : (code) == 112 || (code) == 113 ? 'T' : (code) == 121 ? 'U' : (code) == 122 ? 'L' : (code) == 131 ? 'N' : (code) == 132 ? 'U' : (code) == 141 ? 'L' : 'R')
#define OTHER(code, a, b) ((code) == (a) ? (b) : (a))

void C(axpy)(int n, T a, const T *x, int incx, T *y, int incy) { B(axpy)(n, a, x, incx, y, incy); }
void B(axpy_)(const int *n, const T *a, const T *x, const int *incx, T *y, const int *incy) {
  B(axpy)(*n, *a, x, *incx, y, *incy);
}
T C(dot)(int n, const T *x, int incx, const T *y, int incy) { return B(dot)(n, x, incx, y, incy); }
T B(dot_)(const int *n, const T *x, const int *incx, const T *y, const int *incy) {
  return B(dot)(*n, x, *incx, y, *incy);
}
T C(nrm2)(int n, const T *x, int incx) { return B(nrm2)(n, x, incx); }
T B(nrm2_)(const int *n, const T *x, const int *incx) { return B(nrm2)(*n, x, *incx); }
void C(scal)(int n, T a, T *x, int incx) { B(scal)(n, a, x, incx); }
void B(scal_)(const int *n, const T *a, T *x, const int *incx) { B(scal)(*n, *a, x, *incx); }
void C(copy)(int n, const T *x, int incx, T *y, int incy) {
  long ax = B(first)(n, incx), ay = B(first)(n, incy);
  for (int i = 0; i < n; i++) y[ay + (long)i * incy] = x[ax + (long)i * incx];
}
void B(copy_)(const int *n, const T *x, const int *incx, T *y, const int *incy) { C(copy)(*n, x, *incx, y, *incy); }
void C(ger)(int order, int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) {
  if (order == ROWS) B(ger)(n, m, alpha, y, incy, x, incx, a, lda);
  else B(ger)(m, n, alpha, x, incx, y, incy, a, lda);
}
void B(ger_)(const int *m, const int *n, const T *alpha, const T *x, const int *incx, const T *y, const int *incy, T *a,
             const int *lda) {
  B(ger)(*m, *n, *alpha, x, *incx, y, *incy, a, *lda);
}
void C(gemv)(int order, int trans, int m, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y,
             int incy) {
  if (order == ROWS) B(gemv)(B(flip)(LETTER(trans)), n, m, alpha, a, lda, x, incx, beta, y, incy);
  else B(gemv)(LETTER(trans), m, n, alpha, a, lda, x, incx, beta, y, incy);
}
void B(gemv_)(const char *trans, const int *m, const int *n, const T *alpha, const T *a, const int *lda, const T *x,
              const int *incx, const T *beta, T *y, const int *incy) {
  B(gemv)(*trans, *m, *n, *alpha, a, *lda, x, *incx, *beta, y, *incy);
}
void C(gemm)(int order, int ta, int tb, int m, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta,
             T *c, int ldc) {
  if (order == ROWS) B(gemm)(LETTER(tb), LETTER(ta), n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
  else B(gemm)(LETTER(ta), LETTER(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void B(gemm_)(const char *ta, const char *tb, const int *m, const int *n, const int *k, const T *alpha, const T *a,
              const int *lda, const T *b, const int *ldb, const T *beta, T *c, const int *ldc) {
  B(gemm)(*ta, *tb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}
void C(trsm)(int order, int side, int uplo, int ta, int diag, int m, int n, T alpha, const T *a, int lda, T *b, int ldb) {
  if (order == ROWS) {
    side = OTHER(side, 141, 142);
    uplo = OTHER(uplo, 121, 122);
    int t = m;
    m = n;
    n = t;
  }
  B(trsm)(LETTER(side), LETTER(uplo), LETTER(ta), LETTER(diag), m, n, alpha, a, lda, b, ldb);
}
void B(trsm_)(const char *side, const char *uplo, const char *ta, const char *diag, const int *m, const int *n,
              const T *alpha, const T *a, const int *lda, T *b, const int *ldb) {
  B(trsm)(*side, *uplo, *ta, *diag, *m, *n, *alpha, a, *lda, b, *ldb);
}
