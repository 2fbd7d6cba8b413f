/* One cached copy of a stack array served two loops that read different values: refused with every pipeline. */
/* signature=x[n] -> return | shape=number | real=double | seed=56010 */

static void h0_p56010(real *p, const real *q, int m, real s) {
  for (int i = m - 1; i >= 0; i--) { p[m - 1 - i] = p[i] * (real)0.5 + (FABS(((real)0.741 / ((real)1.5 + s * s)))) / (real)2.5; }
}

real p56010(const real *x, int n) {
real y[5]; for (int z = 0; z < 5; z++) y[z] = x[z % n] * (real)0.5;
real t1[8];
for (int i2 = 0; i2 < 8; i2++) t1[i2] = SIN(FMIN(((real)((9 * 4 + n)) * (real)0.07 * (real)((i2 ^ i2)) * (real)0.07), ((real)((7 % 5)) * (real)0.07 * x[(i2) % n])));
real *t3 = (real *)malloc(9 * sizeof(real));
for (int i4 = 0; i4 < 9; i4++) t3[i4] = ((FABS(y[((8 >> 1)) % 5]) - (x[(i4) % n] * t1[((n + i4)) % 8]))) / (real)2.5;
h0_p56010(t1, t1, MIN(8, 8), (real)-0.790);
for (int i5 = 0; i5 < n; i5++) {
real v6 = (((((real)-0.081 - t3[(0) % 9]) + y[(((2 >> 1) / 3)) % 5]) - ((x[(i5) % n] * (real)((4 * 2 + 7)) * (real)0.07) + COS((real)-0.452)))) / (real)2.5;
y[(((i5 ^ i5) % 5)) % 5] -= (((FMIN(v6, v6) * t1[(((n >> 1) ^ i5)) % 8]) * v6)) / (real)2.5;
}
for (int i7 = n - 1; i7 >= 0; i7--) {
int d8[5];
for (int j = 0; j < 5; j++) d8[j] = (j * 7 + i7) % 5;
for (int j = 0; j < 5; j++) t1[d8[j] % 8] += SIN(y[d8[d8[j]] % 5]) * (real)((i7 + n)) * (real)0.07;
t3[((i7 % 4)) % 9] -= (real)0.3 * (ROOT(LOGP((y[(((i7 / 5) % 2)) % 5] * t1[(((i7 / 4) / 2)) % 8]))));
y[(n) % 5] = TANH((((n) % 2 == 0) ? ((x[(((i7 / 4) / 2)) % n] - t3[((i7 % 3)) % 9]) - FABS(t3[(((i7 / 2) + (n * 4 + 8))) % 9])) : (FABS(t3[(((9 ^ 0) ^ (n >> 1))) % 9]) * (t1[((i7 % 5)) % 8] * (real)0.605))));
if ((((3 / 4) % 3)) % 4 == 1) break;
}
free(t3);
return y[0] + TANH(y[1]) * y[2] - y[3] * y[4];
}
