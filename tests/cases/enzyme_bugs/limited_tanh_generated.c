/* Second derivatives of tanh just below the limit of its argument: NaN. */
/* signature=x[n] -> return | shape=number | real=float | seed=91313 */

static __attribute__((noinline)) real h0_p91313(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  (void)k; return SIN((POW((real)1.2 + c2[((k * 2 + (4 / 5))) % 2] * c2[((k * 2 + (4 / 5))) % 2], TANH((real)((7 / 2)) * (real)0.07)) / ((real)1.5 + (c2[(((k + k) >> 1)) % 2] * (real)0.675) * (c2[(((k + k) >> 1)) % 2] * (real)0.675)))) + (b - (real)((4 + k)) * (real)0.07);
}

static void h1_p91313(real *p, const real *q, int m, real s) {
  for (int i = 0; i < m; i += 2) { *p = *p * (real)0.8 + (((LESS(p[(((m / 3) % 3)) % m], s)) ? (s * (real)0.634) : s)) / (real)2.5; s = (((LESS(p[(((m / 3) % 3)) % m], s)) ? (s * (real)0.634) : s)) / (real)2.5; }
}

real p91313(const real *x, int n) {
real y[5]; for (int z = 0; z < 5; z++) y[z] = x[z % n] * (real)0.5;
int d1[6];
for (int j = 0; j < 6; j++) d1[j] = (j * 6 + (n + 7)) % 6;
for (int j = 0; j < 6; j++) y[d1[j] % 5] += SIN(x[d1[d1[j]] % n]) * (real)-1.257;
y[((1 % 4)) % 5] -= TANH((FABS((x[(n) % n] * x[(((0 + 7) ^ (n ^ 5))) % n])) * y[(((2 ^ n) * 2 + 0)) % 5]));
for (int i2 = n - 1; i2 >= 0; i2--) {
real m3[2][2];
for (int r = 0; r < 2; r++) for (int c = 0; c < 2; c++) m3[r][c] = ((POW((real)1.2 + y[(((r * 5 + c) >> 1)) % 5] * y[(((r * 5 + c) >> 1)) % 5], TANH(y[(0) % 5])) * ((real (*[2])(real, real, int)){h0_p91313, h0_p91313}[(((i2 + 1) % 5)) % 2])(y[(((r * 3 + c) + i2)) % 5], x[(i2) % n], 2))) / (real)2.5;
for (int r = 0; r < 2; r++) { real s = (real)0.0; for (int c = 0; c < 2; c++) s += m3[r][c] * y[c % 5]; y[r % 5] += TANH(s); }
y[(i2) % 5] -= TANH(((FABS(x[(((i2 + n) >> 1)) % n]) * (real)-1.266) * (((real)((9 + 2)) * (real)0.07 + y[((n >> 1)) % 5]) * (real)((i2 / 2)) * (real)0.07)));
real m4[3][4];
for (int r = 0; r < 3; r++) for (int c = 0; c < 4; c++) m4[r][c] = TANH((((real)((n >> 1)) * (real)0.07 + y[((3 ^ (c ^ 7))) % 5]) + y[(((c * 2 + 0) + (n + r))) % 5]));
for (int r = 0; r < 3; r++) { real s = (real)0.0; for (int c = 0; c < 4; c++) s += m4[r][c] * y[c % 5]; y[r % 5] += TANH(s); }
}
real *p5 = (((3 + 4) % 5)) % 2 ? y : y + 3;
h1_p91313(y, p5, MIN(5, 2), p5[(((5 ^ 0) >> 1)) % 2]);
p5[((6 / 4)) % 2] = TANH((FABS(((real)1.323 * x[(n) % n])) * (y[(((4 ^ 9) + (n >> 1))) % 5] * p5[((0 % 2)) % 2])));
return y[0] + TANH(y[1]) * y[2] - y[3] * y[4];
}
