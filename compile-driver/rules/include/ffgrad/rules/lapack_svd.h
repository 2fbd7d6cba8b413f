/* LAPACK in one precision, over lapack_eigen.h: singular values and vectors.
 *
 * Source: Townsend, "Differentiating the singular value decomposition" (2016); Giles, "Collected matrix derivative results for
 * forward and reverse mode algorithmic differentiation" (2008), section 3.2.
 *
 * With A = U S V^T and P = U^T dA V the singular values have the tangents P_ii. Those of the vectors are U X and V Y inside the
 * spaces that they span, where X and Y are antisymmetric with X + Y = (P_ij + P_ji) / (s_j - s_i) and
 * X - Y = (P_ij - P_ji) / (s_i + s_j); and outside of them (I - U U^T) dA V S^-1 and (I - V V^T) dA^T U S^-1. Further columns of a
 * whole U, which belong to no singular value, rotate against the first ones; how they rotate among themselves is not defined.
 */

extern void F(gesvd)(const char *, const char *, const int *, const int *, T *, const int *, T *, T *, const int *, T *, const int *,
                     T *, const int *, int *, size_t, size_t);
extern void F(gesdd)(const char *, const int *, const int *, T *, const int *, T *, T *, const int *, T *, const int *, T *,
                     const int *, int *, int *, size_t);

/* Whether vectors are wanted; all of them, those of the singular values, or the latter in A's place. */
static inline int B(wants)(char job) { return B(is)(job, 'A') || B(is)(job, 'S') || B(is)(job, 'O'); }
/* By dividing and conquering (gesdd) the left job says all: with O the longer vectors take A's place. */
static inline char B(left_job)(int divide, char left, int m, int n) {
  return divide && B(is)(left, 'O') && m < n ? 'A' : left;
}
static inline char B(right_job)(int divide, char left, char right, int m, int n) {
  return !divide ? right : B(is)(left, 'O') && m >= n ? 'A' : left;
}
int B(gesvd)(int divide, char left, char right, int m, int n, T *a, int lda, T *s, T *u, int ldu, T *vt, int ldvt) {
  int info = 0, size = -1, few = m < n ? m : n;
  int *integers = malloc((8L * few + 1) * sizeof(int));
  T best = 0, *work = &best;
  for (int step = 0; step < 2; step++) {
    if (divide) F(gesdd)(&left, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &size, integers, &info, 1);
    else F(gesvd)(&left, &right, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &size, &info, 1, 1);
    if (step == 0 && info != 0) break;
    if (step == 0) {
      size = (int)best + 7 * few + 1;
      work = B(room)(size);
    }
  }
  if (work != &best) free(work);
  free(integers);
  return info;
}

/* A decomposition in one block: info, singular values, U of `cu` columns, V^T of `cv` rows; the sizes of the block. */
typedef struct {
  int m, n, few, cu, cv;
  T *info, *s, *u, *vt;
} B(svd_t);
static B(svd_t) B(svd_in)(T *block, int divide, char left, char right, int m, int n) {
  int few = m < n ? m : n;
  int cu = B(is)(B(left_job)(divide, left, m, n), 'A') ? m : few, cv = B(is)(B(right_job)(divide, left, right, m, n), 'A') ? n : few;
  T *u = block + 1 + few;
  B(svd_t) d = {m, n, few, cu, cv, block, block + 1, u, u + (long)m * cu};
  return d;
}
static T *B(svd_room)(int m, int n) {
  return B(room)(1 + (long)(m < n ? m : n) + (long)m * m + (long)n * n);
}
/* Vectors that the caller has take the place of our own, and flip the signs of their partners with them. */
static void B(take_vectors)(int count, int few, long theirs, long step, int length, T *own, long from, long own_step, const T *given,
                            T *partner, long other, long other_step, int other_length) {
  for (int j = 0; j < count; j++) {
    T dot = 0;
    for (int i = 0; i < length; i++) {
      T *x = own + j * from + i * own_step;
      dot += *x * given[j * theirs + i * step];
      *x = given[j * theirs + i * step];
    }
    for (int i = 0; partner && dot < 0 && j < few && i < other_length; i++) partner[j * other + i * other_step] *= -1;
  }
}
/* Runs it for the caller, and keeps the decomposition with all that its derivative needs. */
static int B(svd)(T *block, int divide, char left, char right, int m, int n, T *a, int lda, T *s, T *u, int ldu, T *vt, int ldvt) {
  B(svd_t) d = B(svd_in)(block, divide, left, right, m, n);
  char jobu = B(left_job)(divide, left, m, n), jobv = B(right_job)(divide, left, right, m, n);
  int lu = B(wants)(jobu), lv = B(wants)(jobv);
  T *copy = B(room)((long)m * n);
  B(keep_matrix)(copy, m, n, a, lda);
  int info = B(gesvd)(divide, left, right, m, n, a, lda, s, u, ldu, vt, ldvt);
  *d.info = info;
  if (!info) {
    if (!lu || !lv) B(gesvd)(divide, d.cu > d.few ? 'A' : 'S', d.cv > d.few ? 'A' : 'S', m, n, copy, m, d.s, d.u, m, d.vt, d.cv);
    T *pu = lv ? NULL : d.vt, *pv = lu ? NULL : d.u;
    const T *gu = B(is)(jobu, 'O') ? a : u, *gv = B(is)(jobv, 'O') ? a : vt;
    if (lu) B(take_vectors)(d.cu, d.few, gu == a ? lda : ldu, 1, m, d.u, m, 1, gu, pu, 1, d.cv, n);
    if (lv) B(take_vectors)(d.cv, d.few, 1, gv == a ? lda : ldvt, n, d.vt, 1, d.cv, gv, pv, m, 1, m);
    for (int i = 0; i < d.few; i++) d.s[i] = s[i];
  }
  free(copy);
  return info;
}
/* x / y, where y is not zero within rounding; where it is, and x is not, there is no derivative. */
static inline T B(quotient)(T x, T y, T least) { return fabs(y) > least ? x / y : x != 0 ? (T)NAN : 0; }
/* x -= Q (Q^T x), for `few` orthonormal columns of length m. */
static void B(project)(int m, int few, int columns, const T *q, T *x) {
  T *t = B(room)((long)few * columns);
  B(gemm)('T', 'N', few, columns, m, 1, q, m, x, m, 0, t, few);
  B(gemm)('N', 'N', m, columns, few, -1, q, m, t, few, 1, x, m);
  free(t);
}
static void B(transpose)(int m, int n, const T *from, int ldf, T *to, int ldt) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) to[j + (long)i * ldt] = from[i + (long)j * ldf];
}
static void B(divide_columns)(int m, int n, const T *s, T least, T *x) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) x[i + (long)j * m] = B(quotient)(x[i + (long)j * m], s[j], least);
}
/* Tangents of the columns of Q (m x columns), of which `few` belong to singular values: g is dA times their partners, x says how
 * they rotate among themselves. */
static void B(rotate)(int m, int few, int columns, const T *s, T least, const T *q, const T *x, T *g, T *dq, int changed) {
  if (columns > few) { /* dQ2 = -Q1 (Q2^T g S^-1)^T */
    int more = columns - few;
    const T *q2 = q + (long)m * few;
    T *t = B(room)((long)more * few), *dq2 = dq + (long)m * few;
    B(gemm)('T', 'N', more, few, m, 1, q2, m, g, m, 0, t, more);
    B(divide_columns)(more, few, s, least, t);
    B(gemm)('N', 'T', m, more, few, -1, q, m, t, more, 0, dq2, m);
    if (more > 1 && changed) B(poison)(dq2, m, m, more);
    free(t);
  }
  B(gemm)('N', 'N', m, few, few, 1, q, m, x, few, 0, dq, m);
  if (m > few) {
    B(project)(m, few, few, q, g);
    B(divide_columns)(m, few, s, least, g);
    B(add_matrix)(dq, m, m, few, 1, g, m);
  }
}
int B(gesvd_fwd)(int divide, char left, char right, int m, int n, T *a, T *da, int lda, T *s, T *ds, T *u, T *du, int ldu, T *vt,
                 T *dvt, int ldvt) {
  T *block = B(svd_room)(m, n), *g = B(room)((long)m * n);
  if (da) B(keep_matrix)(g, m, n, da, lda);
  int info = B(svd)(block, divide, left, right, m, n, a, lda, s, u, ldu, vt, ldvt);
  B(svd_t) d = B(svd_in)(block, divide, left, right, m, n);
  char jobu = B(left_job)(divide, left, m, n), jobv = B(right_job)(divide, left, right, m, n);
  int few = d.few, changed = 0;
  T least = info ? 0 : B(least_gap)(few, d.s);
  T *v = B(room)((long)n * d.cv + 2L * m * few + 2L * n * few + 3L * few * few + (long)m * d.cu + (long)n * d.cv);
  T *gv = v + (long)n * d.cv, *gu = gv + (long)m * few, *p = gu + (long)n * few, *x = p + (long)few * few;
  T *y = x + (long)few * few, *dq = y + (long)few * few, *dw = dq + (long)m * d.cu;
  if (da && !info) {
    for (long i = 0; i < (long)m * n; i++) changed |= g[i] != 0;
    B(transpose)(d.cv, n, d.vt, d.cv, v, n);
    B(gemm)('N', 'N', m, few, n, 1, g, m, v, n, 0, gv, m);
    B(gemm)('T', 'N', n, few, m, 1, g, m, d.u, m, 0, gu, n);
    B(gemm)('T', 'N', few, few, m, 1, d.u, m, gv, m, 0, p, few);
    for (int j = 0; j < few; j++)
      for (int i = 0; i < few; i++) {
        T pij = p[i + (long)j * few], pji = p[j + (long)i * few];
        T sum = i == j ? 0 : B(quotient)(pij + pji, d.s[j] - d.s[i], least);
        T difference = i == j ? 0 : B(quotient)(pij - pji, d.s[j] + d.s[i], least);
        x[i + (long)j * few] = (sum + difference) / 2;
        y[i + (long)j * few] = (sum - difference) / 2;
      }
    if (B(wants)(jobu)) B(rotate)(m, few, d.cu, d.s, least, d.u, x, gv, dq, changed);
    if (B(wants)(jobv)) B(rotate)(n, few, d.cv, d.s, least, v, y, gu, dw, changed);
  } else {
    B(scale_matrix)(p, few, few, few, 0);
    B(scale_matrix)(dq, m, m, d.cu, 0);
    B(scale_matrix)(dw, n, n, d.cv, 0);
    if (info) {
      B(poison)(p, few, few, few);
      B(poison)(dq, m, m, d.cu);
      B(poison)(dw, n, n, d.cv);
    }
  }
  /* What it leaves in A has no derivative, but for vectors. */
  if (da) B(unknown)(m, n, da, lda, 0);
  for (int i = 0; ds && i < few; i++) ds[i] = p[i + (long)i * few];
  if (B(is)(jobu, 'O') ? da != NULL : du && B(wants)(jobu))
    for (int j = 0; j < d.cu; j++)
      for (int i = 0; i < m; i++) *(B(is)(jobu, 'O') ? da + i + (long)j * lda : du + i + (long)j * ldu) = dq[i + (long)j * m];
  if (B(is)(jobv, 'O') ? da != NULL : dvt && B(wants)(jobv))
    for (int j = 0; j < d.cv; j++)
      for (int i = 0; i < n; i++) *(B(is)(jobv, 'O') ? da + j + (long)i * lda : dvt + j + (long)i * ldvt) = dw[i + (long)j * n];
  free(v);
  free(g);
  free(block);
  return info;
}
void *B(gesvd_save)(int divide, char left, char right, int m, int n, T *a, int lda, T *s, T *u, int ldu, T *vt, int ldvt, int *info) {
  T *block = B(svd_room)(m, n);
  *info = B(svd)(block, divide, left, right, m, n, a, lda, s, u, ldu, vt, ldvt);
  return block;
}
/* Of the cotangents of Q's columns: k becomes Q1^T dQ1; g what is outside of Q1, over the singular values. */
static void B(rotate_back)(int m, int few, int columns, const T *s, T least, const T *q, T *dq, T *k, T *g) {
  B(gemm)('T', 'N', few, few, m, 1, q, m, dq, m, 0, k, few);
  B(keep_matrix)(g, m, few, dq, m);
  if (m == few) {
    B(scale_matrix)(g, m, m, few, 0);
    return;
  }
  B(project)(m, few, few, q, g);
  int more = columns - few, given = more == 1;
  for (long i = (long)m * few; i < (long)m * columns; i++) given |= dq[i] != 0;
  /* Of several columns that nothing asks for, the tangents are not-a-number, which second derivatives are not to see. */
  if (more > 0 && given) {
    T *q2 = (T *)q + (long)m * few, *dq2 = dq + (long)m * few, *t = B(room)((long)more * (few + more)), *rotated = t + (long)more * few;
    B(gemm)('T', 'N', more, few, m, 1, dq2, m, q, m, 0, t, more);
    B(gemm)('N', 'N', m, few, more, -1, q2, m, t, more, 1, g, m);
    /* What asks how they rotate among themselves has no derivative. */
    B(gemm)('T', 'N', more, more, m, 1, q2, m, dq2, m, 0, rotated, more);
    int asks = 0;
    for (int j = 0; j < more; j++)
      for (int i = 0; i < more; i++) asks |= i != j && rotated[i + (long)j * more] != 0;
    if (asks) B(poison)(g, m, m, few);
    free(t);
  }
  B(divide_columns)(m, few, s, least, g);
}
/* Takes the cotangents of the vectors, in the shape of Q, from where they are; zeros stay. */
static void B(cotangents)(int m, int columns, T *from, long along, long across, T *to) {
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < m; i++) {
      T *x = from ? from + i * along + j * across : NULL;
      to[i + (long)j * m] = x ? *x : 0;
      if (x) *x = 0;
    }
}
void B(gesvd_rev)(int divide, char left, char right, int m, int n, T *a, T *da, int lda, T *s, T *ds, T *u, T *du, int ldu, T *vt,
                  T *dvt, int ldvt, void *saved) {
  B(svd_t) d = B(svd_in)(saved, divide, left, right, m, n);
  char jobu = B(left_job)(divide, left, m, n), jobv = B(right_job)(divide, left, right, m, n);
  int few = d.few, info = *d.info != 0, ou = B(is)(jobu, 'O'), ov = B(is)(jobv, 'O');
  T *v = B(room)(2L * n * d.cv + (long)m * d.cu + (long)(m + n) * few + 4L * few * few);
  T *dq = v + (long)n * d.cv, *dw = dq + (long)m * d.cu, *gu = dw + (long)n * d.cv, *gv = gu + (long)m * few;
  T *ku = gv + (long)n * few, *kv = ku + (long)few * few, *p = kv + (long)few * few;
  T *from_u = ou ? da : B(wants)(jobu) ? du : NULL, *from_v = ov ? da : B(wants)(jobv) ? dvt : NULL;
  B(cotangents)(m, d.cu, from_u, 1, ou ? lda : ldu, dq);
  B(cotangents)(n, d.cv, from_v, ov ? lda : ldvt, 1, dw);
  if (da) B(unknown)(m, n, da, lda, 1);
  if (da && info) B(poison)(da, lda, m, n);
  if (da && !info) {
    T least = B(least_gap)(few, d.s);
    B(transpose)(d.cv, n, d.vt, d.cv, v, n);
    B(rotate_back)(m, few, d.cu, d.s, least, d.u, dq, ku, gu);
    B(rotate_back)(n, few, d.cv, d.s, least, v, dw, kv, gv);
    for (int j = 0; j < few; j++)
      for (int i = 0; i <= j; i++) {
        T *up = p + i + (long)j * few, *low = p + j + (long)i * few;
        T x = ku[i + (long)j * few] - ku[j + (long)i * few], y = kv[i + (long)j * few] - kv[j + (long)i * few];
        T sum = i == j ? 0 : B(quotient)((x + y) / 2, d.s[j] - d.s[i], least);
        T difference = i == j ? 0 : B(quotient)((x - y) / 2, d.s[j] + d.s[i], least);
        *up = i == j ? (ds ? ds[i] : 0) : sum + difference;
        *low = i == j ? *up : sum - difference;
      }
    /* U p V^T + gu V^T + U gv^T */
    B(gemm)('N', 'N', m, few, few, 1, d.u, m, p, few, 1, gu, m);
    B(gemm)('N', 'T', m, n, few, 1, gu, m, v, n, 1, da, lda);
    B(gemm)('N', 'T', m, n, few, 1, d.u, m, gv, n, 1, da, lda);
  }
  for (int i = 0; ds && i < few; i++) ds[i] = 0;
  free(v);
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(gesvd), B(gesvd_fwd), B(gesvd_rev), B(gesvd_save));

/* The names. A size of -1 asks for that of the workspace, which is not used here. */

void B(gesvd_)(const char *left, const char *right, const int *m, const int *n, T *a, const int *lda, T *s, T *u, const int *ldu,
               T *vt, const int *ldvt, T *work, const int *size, int *info) {
  if (*size == -1) {
    work[0] = 5 * *m + 5 * *n + 1;
    *info = 0;
    return;
  }
  *info = B(gesvd)(0, *left, *right, *m, *n, a, *lda, s, u, *ldu, vt, *ldvt);
}
void B(gesdd_)(const char *job, const int *m, const int *n, T *a, const int *lda, T *s, T *u, const int *ldu, T *vt, const int *ldvt,
               T *work, const int *size, int *integers, int *info) {
  if (*size == -1) {
    long few = *m < *n ? *m : *n, many = *m + *n - few;
    work[0] = 4 * few * few + 7 * few + many + 1;
    *info = 0;
    return;
  }
  *info = B(gesvd)(1, *job, 'N', *m, *n, a, *lda, s, u, *ldu, vt, *ldvt);
}
static int B(svd_by_rows)(int divide, int order, char left, char right, int m, int n, T *a, int lda, T *s, T *u, int ldu, T *vt,
                          int ldvt) {
  char jobu = B(left_job)(divide, left, m, n), jobv = B(right_job)(divide, left, right, m, n);
  int few = m < n ? m : n, cu = B(is)(jobu, 'A') ? m : few, cv = B(is)(jobv, 'A') ? n : few;
  int wu = B(wants)(jobu) && !B(is)(jobu, 'O'), wv = B(wants)(jobv) && !B(is)(jobv, 'O');
  T *c = B(columns_of)(order, m, n, a, lda);
  T *cq = wu ? B(columns_of)(order, m, cu, u, ldu) : u, *cw = wv ? B(columns_of)(order, cv, n, vt, ldvt) : vt;
  int info = B(gesvd)(divide, left, right, m, n, c, STEP(order, m, lda), s, cq, STEP(order, m, ldu), cw, STEP(order, cv, ldvt));
  B(rows_from)(order, m, n, c, a, lda);
  if (wu) B(rows_from)(order, m, cu, cq, u, ldu);
  if (wv) B(rows_from)(order, cv, n, cw, vt, ldvt);
  return info;
}
/* What has not converged is not told: it is zero where info is. */
int E(gesvd)(int order, char left, char right, int m, int n, T *a, int lda, T *s, T *u, int ldu, T *vt, int ldvt, T *rest) {
  for (int i = 0; i + 1 < (m < n ? m : n); i++) rest[i] = 0;
  return B(svd_by_rows)(0, order, left, right, m, n, a, lda, s, u, ldu, vt, ldvt);
}
int E(gesdd)(int order, char job, int m, int n, T *a, int lda, T *s, T *u, int ldu, T *vt, int ldvt) {
  return B(svd_by_rows)(1, order, job, 'N', m, n, a, lda, s, u, ldu, vt, ldvt);
}
