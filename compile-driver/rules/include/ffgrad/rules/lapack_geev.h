/* LAPACK in one precision, over lapack_eigen.h: eigenvalues and eigenvectors of matrices that are not symmetric.
 *
 * Source: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008), section
 * 3.1; van der Aa, ter Morsche and Mattheij, "Computation of eigenvalue and eigenvector derivatives for a general
 * complex-valued eigensystem" (2007).
 *
 * LAPACK has real and imaginary part of a complex eigenvector in two columns: A X = X B, with blocks (a b; -b a) in B for a
 * pair a +- ib. With Q = X^-1 dA X the tangent is X C; in the eigenvectors' basis, which is complex, C_ij is
 * Q_ij / (l_j - l_i), and Q_ii the eigenvalue's tangent. C_ii follows from what LAPACK makes of the vectors: their
 * norm is 1, and the largest component of complex ones is real. Left eigenvectors are conjugate to the right ones of A^T.
 */

extern void F(geev)(const char *, const char *, const int *, T *, const int *, T *, T *, T *, const int *, T *, const int *, T *,
                    const int *, int *, size_t, size_t);
int B(geev)(char left, char right, int n, T *a, int lda, T *wr, T *wi, T *vl, int ldvl, T *vr, int ldvr) {
  int info = 0, size = -1;
  T best = 0, *work = &best;
  for (int step = 0; step < 2; step++) {
    F(geev)(&left, &right, &n, a, &lda, wr, wi, vl, &ldvl, vr, &ldvr, work, &size, &info, 1, 1);
    if (step == 0 && info != 0) break;
    if (step == 0) {
      size = (int)best + 4 * n + 1;
      work = B(room)(size);
    }
  }
  if (work != &best) free(work);
  return info;
}

/* Eigenvectors in the order of given eigenvalues; those of an eigenvalue that is not found are not-a-number. */
static void B(in_order)(int n, const T *wr, const T *wi, T *own_r, const T *own_i, const T *from, T *to) {
  for (int j = 0; j < n; j++) {
    int pair = wi[j] != 0 && j + 1 < n, best = -1;
    T least = 0;
    for (int i = 0; i < n; i++) {
      T distance = fabs(own_r[i] - wr[j]) + fabs(own_i[i] - wi[j]);
      int alike = wi[j] == 0 ? own_i[i] == 0 : own_i[i] > 0;
      if (alike && (best < 0 ? distance == distance : distance < least)) best = i, least = distance;
    }
    for (int i = 0; i < n; i++) {
      to[i + (long)j * n] = best < 0 ? (T)NAN : from[i + (long)best * n];
      if (pair) to[i + (long)(j + 1) * n] = best < 0 ? (T)NAN : from[i + (long)(best + 1) * n];
    }
    if (best >= 0) own_r[best] = (T)NAN; /* is taken */
    j += pair;
  }
}
static void B(conjugate)(int n, const T *wi, T *x, int ldx) {
  for (int j = 0; j < n; j++)
    for (int i = 0; wi[j] < 0 && i < n; i++) x[i + (long)j * ldx] = -x[i + (long)j * ldx];
}
/* Runs it for the caller; keeps info, eigenvalues, right eigenvectors (where the caller asks for none, our own), and left ones as
 * right ones of A^T. */
static int B(eigen)(T *kept, char left, char right, int n, T *a, int lda, T *wr, T *wi, T *vl, int ldvl, T *vr, int ldvr) {
  T *x = kept + 1 + 2L * n, *y = x + (long)n * n;
  int none = !B(is)(left, 'V') && !B(is)(right, 'V');
  T *copy = B(room)(2L * n * n + 2L * n), *own = copy + (long)n * n, *own_r = own + (long)n * n, *own_i = own_r + n;
  B(keep_matrix)(copy, n, n, a, lda);
  int info = B(geev)(left, right, n, a, lda, wr, wi, vl, ldvl, vr, ldvr);
  kept[0] = info;
  B(keep)(B(keep)(kept + 1, n, wr, 1), n, wi, 1);
  if (!info && none) {
    kept[0] = B(geev)('N', 'V', n, copy, n, own_r, own_i, own, n, own, n);
    B(in_order)(n, wr, wi, own_r, own_i, own, x);
  }
  if (!info && B(is)(right, 'V')) B(keep_matrix)(x, n, n, vr, ldvr);
  if (!info && B(is)(left, 'V')) {
    B(keep_matrix)(y, n, n, vl, ldvl);
    B(conjugate)(n, wi, y, n);
  }
  free(copy);
  return info;
}

/* M = X^-1 M, or X^-T M */
static void B(solve_with)(int n, int transposed, const T *x, T *m) {
  T *copy = B(room)((long)n * n);
  int *ipiv = malloc((n + 1) * sizeof(int));
  if (transposed) B(transpose)(n, n, x, n, copy, n);
  else B(keep_matrix)(copy, n, n, x, n);
  if (B(gesv)(n, n, copy, n, ipiv, m, n)) B(poison)(m, n, n, n);
  free(ipiv);
  free(copy);
}
static inline int B(first_of)(const T *wi, int j) { return wi[j] < 0 ? j - 1 : j; }
/* Q in the eigenvectors' basis. The columns of a pair q, p become q + ip and q - ip, its rows (q - ip) / 2 and (q + ip) / 2. */
static void B(to_complex)(int n, const T *wi, const T *q, T *re, T *im) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      int r = B(first_of)(wi, i), c = B(first_of)(wi, j);
      T sj = wi[j] > 0 ? 1 : wi[j] < 0 ? -1 : 0, si = wi[i] > 0 ? 1 : wi[i] < 0 ? -1 : 0;
      const T *at = q + r + (long)c * n;
      T xr = at[0], xi = sj != 0 ? sj * at[n] : 0, yr = 0, yi = 0;
      if (si != 0) yr = at[1], yi = sj != 0 ? sj * at[n + 1] : 0;
      T half = si != 0 ? (T)0.5 : 1;
      re[i + (long)j * n] = half * (xr + si * yi);
      im[i + (long)j * n] = half * (xi - si * yr);
    }
}
static void B(from_complex)(int n, const T *wi, const T *re, const T *im, T *c) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      long r = B(first_of)(wi, i), k = B(first_of)(wi, j), at = r + k * n;
      int rows = wi[i] != 0, columns = wi[j] != 0;
      /* The rows of a pair z, w become z + w and i (z - w); its columns (z + w) / 2 and -i (z - w) / 2. Here by columns first. */
      T sr[2], si[2];
      for (int l = 0; l <= rows; l++) {
        T zr = re[at + l], zi = im[at + l], vr = columns ? re[at + l + n] : 0, vi = columns ? im[at + l + n] : 0;
        sr[l] = wi[j] < 0 ? (zi - vi) / 2 : columns ? (zr + vr) / 2 : zr;
        si[l] = wi[j] < 0 ? -(zr - vr) / 2 : columns ? (zi + vi) / 2 : zi;
      }
      c[i + (long)j * n] = wi[i] < 0 ? -(si[0] - si[1]) : rows ? sr[0] + sr[1] : sr[0];
    }
}
static inline T B(apart)(const T *wr, const T *wi, int i, int j) { return sqrt((wr[j] - wr[i]) * (wr[j] - wr[i]) + (wi[j] - wi[i]) * (wi[j] - wi[i])); }
static T B(least_apart)(int n, const T *wr, const T *wi) {
  T largest = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fmax(fabs(wr[i]), fabs(wi[i])));
  return B(rounding)(largest);
}
/* Each element over the difference of the column's and the row's eigenvalue, or of what is conjugate to them (sign -1); the
 * diagonal is zero. What mixes eigenvectors of one eigenvalue has no derivative. */
static void B(over_differences)(int n, const T *wr, const T *wi, T sign, T *re, T *im) {
  T least = B(least_apart)(n, wr, wi);
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j; i++)
      for (int side = 0; side < 2; side++) {
        long at = side ? j + (long)i * n : i + (long)j * n;
        T a = (side ? -1 : 1) * (wr[j] - wr[i]), b = (side ? -1 : 1) * sign * (wi[j] - wi[i]), norm = a * a + b * b;
        T x = re[at], y = im[at];
        int none = i == j || (B(apart)(wr, wi, i, j) <= least && x == 0 && y == 0), equal = B(apart)(wr, wi, i, j) <= least;
        re[at] = none ? 0 : equal ? (T)NAN : (x * a + y * b) / norm;
        im[at] = none ? 0 : equal ? (T)NAN : (y * a - x * b) / norm;
      }
}
/* The component that is real. */
static int B(real_component)(int n, const T *x, const T *y) {
  int k = 0;
  for (int i = 1; i < n; i++)
    if (y[i] == 0 && (y[k] != 0 || fabs(x[i]) > fabs(x[k]))) k = i;
  return k;
}
static T B(product)(int n, const T *x, const T *y) {
  T sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}
static void B(normalise)(int n, const T *wi, const T *xs, T *ds) {
  for (int j = 0; j < n; j++) {
    const T *x = xs + (long)j * n, *y = x + n;
    T *dx = ds + (long)j * n, *dy = dx + n, along = B(product)(n, x, dx);
    if (wi[j] == 0) {
      for (int i = 0; i < n; i++) dx[i] -= along * x[i];
      continue;
    }
    int k = B(real_component)(n, x, y);
    T angle = -dy[k] / x[k];
    along += B(product)(n, y, dy);
    for (int i = 0; i < n; i++) {
      dx[i] -= along * x[i] + angle * y[i];
      dy[i] -= along * y[i] - angle * x[i];
    }
    j++;
  }
}
static void B(normalise_back)(int n, const T *wi, const T *xs, T *gs) {
  for (int j = 0; j < n; j++) {
    const T *x = xs + (long)j * n, *y = x + n;
    T *gx = gs + (long)j * n, *gy = gx + n, along = B(product)(n, x, gx);
    if (wi[j] == 0) {
      for (int i = 0; i < n; i++) gx[i] -= along * x[i];
      continue;
    }
    int k = B(real_component)(n, x, y);
    T angle = B(product)(n, x, gy) - B(product)(n, y, gx);
    along += B(product)(n, y, gy);
    for (int i = 0; i < n; i++) {
      gx[i] -= along * x[i];
      gy[i] -= along * y[i];
    }
    gy[k] -= angle / x[k];
    j++;
  }
}
/* Tangents of X and of the eigenvalues (NULL: not wanted) from that of the matrix. */
static void B(eigen_forward)(int n, const T *wr, const T *wi, const T *x, const T *g, T *dx, T *dwr, T *dwi) {
  T *q = B(room)(3L * n * n), *re = q + (long)n * n, *im = re + (long)n * n, least = B(least_apart)(n, wr, wi);
  B(gemm)('N', 'N', n, n, n, 1, g, n, x, n, 0, q, n);
  B(solve_with)(n, 0, x, q);
  B(to_complex)(n, wi, q, re, im);
  for (int i = 0; i < n; i++) {
    int mixed = 0;
    for (int j = 0; j < n; j++) {
      long up = i + (long)j * n, low = j + (long)i * n;
      if (j != i && B(apart)(wr, wi, i, j) <= least) mixed |= re[up] != 0 || im[up] != 0 || re[low] != 0 || im[low] != 0;
    }
    if (dwr) dwr[i] = mixed ? (T)NAN : re[i + (long)i * n];
    if (dwi) dwi[i] = mixed ? (T)NAN : im[i + (long)i * n];
  }
  if (dx) {
    B(over_differences)(n, wr, wi, 1, re, im);
    B(from_complex)(n, wi, re, im, q);
    B(gemm)('N', 'N', n, n, n, 1, x, n, q, n, 0, dx, n);
    B(normalise)(n, wi, x, dx);
  }
  free(q);
}
/* The cotangent of the matrix from those of X, which are overwritten, and of the eigenvalues (NULL: none). */
static void B(eigen_reverse)(int n, const T *wr, const T *wi, const T *x, T *gx, const T *gwr, const T *gwi, T *to) {
  T *q = B(room)(3L * n * n), *re = q + (long)n * n, *im = re + (long)n * n, least = B(least_apart)(n, wr, wi);
  B(scale_matrix)(q, n, n, n, 0);
  if (gx) {
    B(normalise_back)(n, wi, x, gx);
    B(gemm)('T', 'N', n, n, n, 1, x, n, gx, n, 0, q, n);
    B(to_complex)(n, wi, q, re, im);
    B(over_differences)(n, wr, wi, -1, re, im);
    B(from_complex)(n, wi, re, im, q);
  }
  for (int i = 0; i < n; i++) {
    int alone = 1, r = B(first_of)(wi, i);
    T *at = q + r + (long)r * n, gr = gwr ? gwr[i] : 0, gi = gwi ? (wi[i] < 0 ? -gwi[i] : gwi[i]) : 0;
    for (int j = 0; j < n; j++) alone &= j == i || B(apart)(wr, wi, i, j) > least;
    if (wi[i] == 0) gi = 0;
    if (!alone && (gr != 0 || gi != 0)) gr = gi = (T)NAN;
    if (wi[i] == 0) {
      *at += gr;
      continue;
    }
    at[0] += gr / 2;
    at[n + 1] += gr / 2;
    at[n] += gi / 2;
    at[1] -= gi / 2;
  }
  B(solve_with)(n, 1, x, q);
  B(gemm)('N', 'T', n, n, n, 1, q, n, x, n, 0, to, n);
  free(q);
}
int B(geev_fwd)(char left, char right, int n, T *a, T *da, int lda, T *wr, T *dwr, T *wi, T *dwi, T *vl, T *dvl, int ldvl, T *vr,
                T *dvr, int ldvr) {
  int lefts = B(is)(left, 'V'), rights = B(is)(right, 'V');
  T *kept = B(room)(1 + 2L * n + 5L * n * n), *x = kept + 1 + 2L * n, *y = x + (long)n * n, *g = y + (long)n * n;
  T *dx = g + (long)n * n, *t = dx + (long)n * n, *own_r = kept + 1, *own_i = own_r + n;
  if (da) B(keep_matrix)(g, n, n, da, lda);
  else B(scale_matrix)(g, n, n, n, 0);
  int info = B(eigen)(kept, left, right, n, a, lda, wr, wi, vl, ldvl, vr, ldvr);
  if (da) B(unknown)(n, n, da, lda, 0);
  int failed = kept[0] != 0;
  if (!failed && (rights || !lefts)) B(eigen_forward)(n, own_r, own_i, x, g, rights ? dx : NULL, dwr, dwi);
  for (int j = 0; rights && dvr && j < n; j++)
    for (int i = 0; i < n; i++) dvr[i + (long)j * ldvr] = failed ? (T)NAN : dx[i + (long)j * n];
  if (!failed && lefts) {
    B(transpose)(n, n, g, n, t, n);
    B(eigen_forward)(n, own_r, own_i, y, t, dx, rights ? NULL : dwr, rights ? NULL : dwi);
    B(conjugate)(n, own_i, dx, n);
  }
  for (int j = 0; lefts && dvl && j < n; j++)
    for (int i = 0; i < n; i++) dvl[i + (long)j * ldvl] = failed ? (T)NAN : dx[i + (long)j * n];
  if (failed && dwr) B(poison)(dwr, n, n, 1);
  if (failed && dwi) B(poison)(dwi, n, n, 1);
  free(kept);
  return info;
}
void *B(geev_save)(char left, char right, int n, T *a, int lda, T *wr, T *wi, T *vl, int ldvl, T *vr, int ldvr, int *info) {
  T *kept = B(room)(1 + 2L * n + 2L * n * n);
  *info = B(eigen)(kept, left, right, n, a, lda, wr, wi, vl, ldvl, vr, ldvr);
  return kept;
}
void B(geev_rev)(char left, char right, int n, T *a, T *da, int lda, T *wr, T *dwr, T *wi, T *dwi, T *vl, T *dvl, int ldvl, T *vr,
                 T *dvr, int ldvr, void *saved) {
  int lefts = B(is)(left, 'V'), rights = B(is)(right, 'V');
  T *kept = saved, *own_r = kept + 1, *own_i = own_r + n, *x = own_i + n, *y = x + (long)n * n;
  T *gx = B(room)(3L * n * n), *g = gx + (long)n * n, *t = g + (long)n * n;
  if (da) B(unknown)(n, n, da, lda, 1);
  if (da && kept[0] != 0) B(poison)(da, lda, n, n);
  if (da && kept[0] == 0 && (rights || !lefts)) {
    B(cotangents)(n, n, rights ? dvr : NULL, 1, ldvr, gx);
    B(eigen_reverse)(n, own_r, own_i, x, rights && dvr ? gx : NULL, dwr, dwi, g);
    B(add_matrix)(da, lda, n, n, 1, g, n);
  }
  if (da && kept[0] == 0 && lefts) {
    B(cotangents)(n, n, dvl, 1, ldvl, gx);
    B(conjugate)(n, own_i, gx, n);
    B(eigen_reverse)(n, own_r, own_i, y, dvl ? gx : NULL, rights ? NULL : dwr, rights ? NULL : dwi, g);
    B(transpose)(n, n, g, n, t, n);
    B(add_matrix)(da, lda, n, n, 1, t, n);
  }
  for (int i = 0; dwr && i < n; i++) dwr[i] = 0;
  for (int i = 0; dwi && i < n; i++) dwi[i] = 0;
  if (rights && dvr) B(scale_matrix)(dvr, ldvr, n, n, 0);
  if (lefts && dvl) B(scale_matrix)(dvl, ldvl, n, n, 0);
  free(gx);
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(B(geev), B(geev_fwd), B(geev_rev), B(geev_save));

void B(geev_)(const char *left, const char *right, const int *n, T *a, const int *lda, T *wr, T *wi, T *vl, const int *ldvl, T *vr,
              const int *ldvr, T *work, const int *size, int *info) {
  if (*size == -1) {
    work[0] = 4 * *n + 1;
    *info = 0;
    return;
  }
  *info = B(geev)(*left, *right, *n, a, *lda, wr, wi, vl, *ldvl, vr, *ldvr);
}
int E(geev)(int order, char left, char right, int n, T *a, int lda, T *wr, T *wi, T *vl, int ldvl, T *vr, int ldvr) {
  int lefts = B(is)(left, 'V'), rights = B(is)(right, 'V');
  T *c = B(columns_of)(order, n, n, a, lda);
  T *cl = lefts ? B(columns_of)(order, n, n, vl, ldvl) : vl, *cr = rights ? B(columns_of)(order, n, n, vr, ldvr) : vr;
  int info = B(geev)(left, right, n, c, STEP(order, n, lda), wr, wi, cl, STEP(order, n, ldvl), cr, STEP(order, n, ldvr));
  B(rows_from)(order, n, n, c, a, lda);
  if (lefts) B(rows_from)(order, n, n, cl, vl, ldvl);
  if (rights) B(rows_from)(order, n, n, cr, vr, ldvr);
  return info;
}
