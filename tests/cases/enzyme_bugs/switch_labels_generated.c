/* An adjoint was added once for each edge of a switch to one block: caught, and right with the pipeline `typed`. */
/* signature=x[n], a -> y[n] | shape=scalar | real=double | seed=50004 */

static __attribute__((noinline)) real h0_p50004(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  (void)k; return (ROOT((b * c2[(((k ^ 9) ^ (1 ^ k))) % 2]))) / (real)2.5 + (b / ((real)1.5 + c2[(((k % 5) % 4)) % 2] * c2[(((k % 5) % 4)) % 2]));
}

static real h1_p50004(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  (void)k; return TANH(FABS(SOFT(c2[(((6 * 2 + 8) * 4 + (k + 1))) % 2]))) + (b * c2[(k) % 2]);
}

static real h2_p50004(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  if (k <= 0) return (real)0.3 * (FABS(FABS(c2[(k) % 2])));
  return TANH((c2[(k) % 2] * b) + (real)0.5 * h2_p50004(b, a * (real)0.9, k - 1));
}

void p50004(const real *x, real a, int n, real *y) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
real t1[4], t1c[4];
for (int i2 = 0; i2 < 4; i2++) t1[i2] = TANH(((a + a) * y[(((i2 * 2 + 6) / 3)) % n]));
memcpy(t1c, t1, sizeof t1);
real t3[8];
for (int i4 = 0; i4 < 8; i4++) t3[i4] = TANH((((LESS(y[(((i4 / 3) * 2 + (0 % 5))) % n], x[((n + (i4 / 2))) % n])) ? t1[(6) % 4] : x[(i4) % n]) * SOFT(a)));
t3[(((9 ^ 5) ^ (n + n))) % 8] *= SIN((ATAN((((real)(4) * (real)0.07 * t1c[((n >> 1)) % 4]) - a))) / (real)2.5);
switch ((((n >> 1) >> 1)) % 4) {
case 0: {
real v5 = TANH(((SOFT(a) * (a * t3[(((n ^ n) ^ 4)) % 8])) + (a * t1[(((n / 4) * 3 + (4 * 4 + 1))) % 4])));
y[(4) % n] = y[(4) % n] * (real)0.7 + ((((real (*[2])(real, real, int)){h0_p50004, h0_p50004}[(((6 / 3) + (2 * 2 + n))) % 2])(SIN(y[(((n % 3) % 5)) % n]), v5, 3) * h1_p50004(t1c[(n) % 4], t1c[(((4 ^ n) >> 1)) % 4], 2))) / (real)2.5;
} break;
case 1: {
real v6 = SIN((((t1[(((1 + n) % 4)) % 4] / ((real)1.5 + (real)-0.926 * (real)-0.926)) - (real)((n * 4 + 5)) * (real)0.07) * (SOFT(a) + (a - a))));
real v7 = (((ERF(a) / ((real)1.5 + v6 * v6)) * FABS(t1c[(((n ^ n) >> 1)) % 4]))) / (real)2.5;
} 
case 2: {
real v8 = SIN((((t3[(4) % 8] * a) / ((real)1.5 + t1c[(((n % 4) * 5 + (n / 4))) % 4] * t1c[(((n % 4) * 5 + (n / 4))) % 4])) * (real)((n / 5)) * (real)0.07));
t1[(((n ^ n) + (5 ^ n))) % 4] += ((((v8 * t1c[(((9 ^ n) + (6 / 5))) % 4]) * (real)((8 ^ n)) * (real)0.07) * POW((real)1.2 + v8 * v8, TANH(t1[(((8 + 6) % 3)) % 4])))) / (real)2.5;
} break;
default: {
t3[(((n >> 1) + (n + 2))) % 8] = SIN((h2_p50004(FABS(y[(((3 + 1) / 4)) % n]), (y[(2) % n] + (real)0.298), 1) + a));
}
}
y[(((3 ^ n) ^ (n ^ 7))) % n] *= SIN((((((real)((1 ^ n)) * (real)0.07 / ((real)1.5 + a * a)) * (y[(((n / 5) * 3 + (n / 5))) % n] * t3[((9 + (n >> 1))) % 8])) * FMAX((t1c[(((6 * 2 + 5) ^ 5)) % 4] / ((real)1.5 + a * a)), a))) / (real)2.5);
}
