/* Loads of two branches, merged into one load through a phi of pointers, and loaded again after a write: wrong. */
/* signature=x[n] -> y[n]; w[2*n] | shape=scratch | real=double | seed=95374 */

static __attribute__((noinline)) void h0_p95374(real *p, const real *q, int m, real s) {
  for (int i = 0; i < m; i += 2) { p[m - 1 - i] = p[i] * (real)0.5 + TANH((((real)-0.681 - s) * ((LESS(q[(((0 ^ 6) ^ (m ^ i))) % m], (real)(i) * (real)0.07)) ? s : s))); }
}

static __attribute__((noinline)) real h1_p95374(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  (void)k; return (real)0.3 * (((c2[(((k >> 1) / 4)) % 2] - c2[((5 ^ (k ^ k))) % 2]) * (b - c2[(0) % 2]))) + (b + b);
}

void p95374(const real *x, int n, real *y, real *w) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
for (int j = 0; j < 2 * n; j++) w[j] = x[j % n] * (real)0.3;
real *t1 = (real *)malloc(5 * sizeof(real));
for (int i2 = 0; i2 < 5; i2++) t1[i2] = (real)0.3 * (BELL((w[(((5 >> 1) >> 1)) % (2 * n)] - y[(((0 % 3) % 3)) % n])));
for (int i3 = 0; i3 < n; i3++) {
t1[(((i3 >> 1) / 5)) % 5] *= SIN((((LESS(x[(n) % n], (real)-1.243)) ? (FMIN(w[(((6 * 2 + 6) >> 1)) % (2 * n)], (real)1.177) + t1[(n) % 5]) : (((4) % 4 == 0) ? COS((real)0.438) : (real)-1.321))) / (real)2.5);
if ((((3 ^ n) / 4)) % 2 == 0) {
y[(((1 >> 1) ^ (6 * 4 + n))) % n] *= SIN(TANH((TANH((x[(i3) % n] - x[(3) % n])) - FMAX(SOFT((real)(i3) * (real)0.07), (w[(((6 % 2) / 3)) % (2 * n)] * (real)((8 >> 1)) * (real)0.07)))));
h0_p95374(y, w, MIN(n, (2 * n)), t1[(3) % 5]);
y[((n * 4 + (n >> 1))) % n] = SIN(((LESS((real)((n ^ n)) * (real)0.07, (real)((i3 % 5)) * (real)0.07)) ? ((x[(((5 + i3) % 4)) % n] + y[((i3 >> 1)) % n]) * (y[(((n ^ i3) * 2 + (0 / 2))) % n] + w[((n / 3)) % (2 * n)])) : ERF((real)-0.614)));
} else {
real v4 = ((ROOT((w[(((i3 + n) % 3)) % (2 * n)] + y[(n) % n])) / ((real)1.5 + w[(i3) % (2 * n)] * w[(i3) % (2 * n)]))) / (real)2.5;
w[(((n + n) ^ 2)) % (2 * n)] *= SIN((TANH(((real (*[2])(real, real, int)){h1_p95374, h1_p95374}[((i3 >> 1)) % 2])(BELL((real)(1) * (real)0.07), FABS(w[(5) % (2 * n)]), 3))) / (real)2.5);
y[(((3 * 5 + 3) / 5)) % n] = y[(((3 * 5 + 3) / 5)) % n] * (real)0.7 + (real)0.3 * (((((((7 % 3) ^ 5)) % 3 == 1) ? FMIN(v4, v4) : v4) / ((real)1.5 + ((LESS((real)1.429, v4)) ? LOGP(x[(((n / 2) ^ i3)) % n]) : LOGP(t1[((n ^ (i3 + i3))) % 5])) * ((LESS((real)1.429, v4)) ? LOGP(x[(((n / 2) ^ i3)) % n]) : LOGP(t1[((n ^ (i3 + i3))) % 5])))));
}
}
t1[(((n * 2 + n) >> 1)) % 5] -= SIN(((((real)-1.231 * t1[(((7 % 3) % 3)) % 5]) * ((real)((8 / 3)) * (real)0.07 - t1[(((n * 2 + 5) + 1)) % 5])) + BELL(FABS(w[(n) % (2 * n)]))));
free(t1);
}
