/* float: tanh at 46 made second derivatives NaN, infinity divided by infinity (Enzyme's 1 / cosh^2). */
/* signature=x[n] -> y[n], z[3] | shape=several_outputs | real=float | seed=27 */
static __attribute__((noinline)) void h0_p27(real *p, const real *q, int m, real s) {
  for (int i = m - 1; i >= 0; i--) { *p = *p * (real)0.8 + (real)0.3 * (((LESS(q[(((i / 5) ^ (m ^ m))) % m], s)) ? ((real)0.827 / ((real)1.5 + q[((i + (m % 5))) % m] * q[((i + (m % 5))) % m])) : POW((real)1.2 + s * s, TANH(s)))); s = (real)0.3 * (((LESS(q[(((i / 5) ^ (m ^ m))) % m], s)) ? ((real)0.827 / ((real)1.5 + q[((i + (m % 5))) % m] * q[((i + (m % 5))) % m])) : POW((real)1.2 + s * s, TANH(s)))); }
}

static real h1_p27(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  for (int i = 0; i < k; i++) { a = SIN(SOFT((c2[(((k * 2 + k) + (k ^ 3))) % 2] * a))); if (LESS(a, b)) return a * b; b = b * (real)0.9; }
  return TANH(a);
}

static __attribute__((noinline)) void h2_p27(real *p, const real *q, int m, real s) {
  for (int i = 0; i < m; i += 2) { p[i] = TANH((((real)((i / 2)) * (real)0.07 + p[(((i / 2) >> 1)) % m]) * (p[(i) % m] - (real)0.181))); }
}

static real h3_p27(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  for (int i = 0; i < k; i++) { a = TANH((((real)-1.245 + a) - a)); if (LESS(a, b)) return a * b; b = b * (real)0.9; }
  return (b * (real)-1.016);
}

void p27(const real *x, int n, real *y, real *z) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
for (int j = 0; j < 3; j++) z[j] = SIN(x[j % n]);
real t1[4];
for (int i2 = 0; i2 < 4; i2++) t1[i2] = SIN(LOGP((y[(n) % n] + y[(((9 >> 1) * 4 + (i2 >> 1))) % n])));
h0_p27(t1, x, MIN(4, n), x[((n * 4 + 0)) % n]);
if ((((n % 3) >> 1)) % 3 == 0) {
t1[(8) % 4] = t1[(8) % 4] * (real)0.7 + SIN(SIN(FABS(h1_p27(t1[(9) % 4], (real)0.477, 1))));
} else {
y[(3) % n] -= SIN((SOFT((y[(((6 * 2 + n) >> 1)) % n] + t1[(((8 >> 1) % 3)) % 4])) * z[(((7 + 6) + n)) % 3]));
h2_p27(z, y, MIN(3, n), t1[((3 % 3)) % 4]);
t1[(((n / 5) + (n % 5))) % 4] *= SIN(TANH(((FMIN((real)((6 * 2 + 6)) * (real)0.07, t1[(((2 ^ 7) + n)) % 4]) - LOGP(x[((2 % 5)) % n])) * (FMAX(y[(n) % n], (real)-0.233) + t1[((8 % 5)) % 4]))));
}
for (int i3 = 0; i3 < n; i3++) {
for (int i4 = 0; i4 < 5; i4++) {
if (LESS(x[((7 / 5)) % n], (real)((n >> 1)) * (real)0.07)) {
y[(n) % n] = TANH(SIN(FMAX((x[((4 * 5 + (i3 ^ n))) % n] + (real)1.467), (real)0.742)));
t1[((i4 * 5 + (8 * 4 + 3))) % 4] += TANH(((((real)((i4 / 5)) * (real)0.07 + z[(((1 / 2) * 2 + (1 * 3 + 7))) % 3]) * y[(((i3 + i4) + n)) % n]) + (BELL(z[(((n * 2 + i3) ^ n)) % 3]) * ROOT(t1[(((i3 + n) * 2 + i3)) % 4]))));
}
t1[(((n ^ i3) / 2)) % 4] += ((((((i4 * 3 + i3) / 2)) % 4 == 1) ? ((y[((i3 ^ (n >> 1))) % n] * (real)-1.462) + ROOT(t1[((i3 % 5)) % 4])) : (ROOT(t1[(i3) % 4]) / ((real)1.5 + ((real)((n >> 1)) * (real)0.07 * y[(i3) % n]) * ((real)((n >> 1)) * (real)0.07 * y[(i3) % n]))))) / (real)2.5;
}
t1[(((n % 5) * 2 + (3 ^ i3))) % 4] -= (real)0.3 * ((((n) % 2 == 1) ? LOGP(h3_p27(t1[(((7 >> 1) * 4 + (i3 * 3 + 9))) % 4], z[(((5 % 4) >> 1)) % 3], 2)) : ((y[(((n * 4 + i3) + 9)) % n] * (real)(n) * (real)0.07) + (y[((n ^ (8 / 2))) % n] / ((real)1.5 + y[(((n / 2) / 2)) % n] * y[(((n / 2) / 2)) % n])))));
t1[(i3) % 4] = t1[(i3) % 4] * (real)0.7 + TANH((FABS(((real)(1) * (real)0.07 / ((real)1.5 + (real)1.250 * (real)1.250))) - (y[(((6 ^ 2) * 5 + (n ^ i3))) % n] / ((real)1.5 + y[(((i3 % 4) + (i3 / 5))) % n] * y[(((i3 % 4) + (i3 / 5))) % n]))));
}
}
