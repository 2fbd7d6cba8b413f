/* Buffers swapped by pointer, one of them wrongly inactive: refused with every pipeline. */
/* signature=x[n] -> y[n] | shape=map | real=float | seed=40785 */
static real h0_p40785(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  for (int i = 0; i < k; i++) { a = (real)0.3 * (FMIN(FMAX((real)((5 + k)) * (real)0.07, (real)((8 >> 1)) * (real)0.07), a)); if (LESS(a, b)) return a * b; b = b * (real)0.9; }
  return (c2[((k / 4)) % 2] - a);
}

static real h1_p40785(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  for (int i = 0; i < k; i++) { a = TANH(((c2[((k + (k * 2 + 6))) % 2] * c2[(((5 >> 1) + (5 * 2 + 3))) % 2]) / ((real)1.5 + FABS((real)-1.374) * FABS((real)-1.374)))); if (LESS(a, b)) return a * b; b = b * (real)0.9; }
  return ((real)((9 % 2)) * (real)0.07 - (real)((5 ^ 7)) * (real)0.07);
}

static real h2_p40785(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  if (k <= 0) return (real)0.3 * ((BELL(c2[((k >> 1)) % 2]) / ((real)1.5 + c2[(((1 % 3) >> 1)) % 2] * c2[(((1 % 3) >> 1)) % 2])));
  return TANH((a - a) + (real)0.5 * h2_p40785(b, a * (real)0.9, k - 1));
}

static __attribute__((noinline)) real h3_p40785(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  (void)k; return SIN(ROOT((b + c2[(((9 % 3) * 3 + k)) % 2]))) + (c2[(((k % 4) ^ (5 >> 1))) % 2] + c2[(((k ^ k) ^ 9)) % 2]);
}

void p40785(const real *x, int n, real *y) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
real t1[9];
for (int i2 = 0; i2 < 9; i2++) t1[i2] = (ATAN((y[(((n % 4) % 4)) % n] + x[(i2) % n]))) / (real)2.5;
real t3[7];
for (int i4 = 0; i4 < 7; i4++) t3[i4] = (real)0.3 * (FABS(COS(y[((i4 % 4)) % n])));
real v5 = (COS(h0_p40785(ATAN((real)0.315), TANH(x[(4) % n]), 4))) / (real)2.5;
switch ((n) % 4) {
case 0: {
v5 = (real)0.3 * ((POW((real)1.2 + (v5 + v5) * (v5 + v5), TANH(v5)) / ((real)1.5 + ((LESS(y[(n) % n], v5)) ? (v5 + v5) : v5) * ((LESS(y[(n) % n], v5)) ? (v5 + v5) : v5))));
} break;
case 1: {
real v6 = TANH(h1_p40785(((v5 * y[(n) % n]) * v5), ATAN(t1[((n ^ (n * 4 + 1))) % 9]), 2));
y[(((4 + 6) >> 1)) % n] *= SIN(SIN(h2_p40785((SOFT((real)-0.879) - x[(7) % n]), (v5 * v6), 2)));
} break;
default: {
v5 = v5 * (real)0.7 + (((TANH(v5) - (real)((0 + n)) * (real)0.07) * LOGP(ATAN(v5)))) / (real)2.5;
}
}
real *p7 = t3, *p8 = t1;
for (int i9 = 0; i9 < 4; i9++) {
for (int j = 0; j < 7; j++) p8[j] = p7[(j + 1) % 7] * (real)0.5 + (((x[(((n / 5) % 5)) % n] * v5) - t1[(n) % 9])) / (real)2.5;
real *w = p7; p7 = p8; p8 = w;
}
int i10 = 0;
while (i10 < n) {
for (int i11 = 1; i11 < ((i10 ^ n)) % 5 + 1; i11 += 2) {
if (LESS(v5, v5)) {
y[((n % 2)) % n] -= TANH(((LOGP((real)1.236) - SIN(t3[((n ^ (7 * 5 + 3))) % 7])) * t3[(1) % 7]));
} else {
t3[((n / 5)) % 7] = (((real (*[2])(real, real, int)){h3_p40785, h3_p40785}[(((5 + 0) >> 1)) % 2])(SIN(((LESS((real)((n >> 1)) * (real)0.07, (real)((i10 % 3)) * (real)0.07)) ? x[(n) % n] : v5)), (v5 * v5), 3)) / (real)2.5;
real v12 = (real)0.3 * (((LESS(t3[(i11) % 7], v5)) ? SOFT(TANH(x[(i11) % n])) : ATAN(v5)));
}
v5 -= (((LESS(p7[(6) % 7], t1[(((n >> 1) >> 1)) % 9])) ? ((((n / 3)) % 3 == 0) ? (y[(((2 % 4) ^ (n * 3 + i11))) % n] - v5) : LOGP(v5)) : t1[(((n ^ 7) % 5)) % 9])) / (real)2.5;
y[((i10 % 4)) % n] = y[((i10 % 4)) % n] * (real)0.7 + (real)0.3 * (COS((((real)(i10) * (real)0.07 - (real)(n) * (real)0.07) * v5)));
}
i10++;
}
}
