/* A masked gather from an undefined address: a crash. */
/* signature=x[n] -> y[n] | shape=map | real=double | seed=60830 */

static void h0_p60830(real *p, const real *q, int m, real s) {
  for (int i = 0; i < m; i++) { p[i] += SIN(SOFT((((((i / 5) + (i * 2 + 0))) % 3 == 0) ? (real)((m % 3)) * (real)0.07 : q[(((6 >> 1) + 0)) % m]))); }
}

void p60830(const real *x, int n, real *y) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
real t1[4];
for (int i2 = 0; i2 < 4; i2++) t1[i2] = TANH(POW((real)1.2 + ((real)(7) * (real)0.07 - y[(i2) % n]) * ((real)(7) * (real)0.07 - y[(i2) % n]), TANH(FABS(y[(((n % 5) / 2)) % n]))));
int i3 = 0;
while (i3 < ((n + 7)) % 5 + 1 && LESS(y[(8) % n], (real)0.9)) {
switch ((i3) % 4) {
case 0: {
y[(i3) % n] += (((LESS((real)((i3 / 4)) * (real)0.07, y[((i3 % 2)) % n])) ? (SOFT((real)((i3 % 5)) * (real)0.07) * SOFT(y[(((n + 6) % 5)) % n])) : y[(i3) % n])) / (real)2.5;
} 
case 1: {
real v4 = SIN(((SOFT((real)-0.070) + (real)0.990) - BELL((y[((n >> 1)) % n] - y[(n) % n]))));
t1[(((5 / 3) >> 1)) % 4] = (real)0.3 * (((FABS(t1[(((8 % 3) * 2 + (i3 / 4))) % 4]) + (y[(n) % n] - v4)) + ((v4 - v4) * (v4 + y[(((n >> 1) % 5)) % n]))));
} break;
default: {
t1[(((n >> 1) % 4)) % 4] = TANH((ATAN(FMIN((real)(n) * (real)0.07, (real)0.121)) + t1[(((i3 >> 1) + (n + i3))) % 4]));
}
}
h0_p60830(t1, y, MIN(4, n), t1[((0 >> 1)) % 4]);
real v5 = TANH(((ERF((real)(i3) * (real)0.07) - y[(((n >> 1) / 4)) % n]) - (ERF(y[(n) % n]) * SIN(t1[(i3) % 4]))));
if (i3 > 3) break;
i3++;
}
y[(((2 / 2) * 2 + (n / 2))) % n] = y[(((2 / 2) * 2 + (n / 2))) % n] * (real)0.7 + (real)0.3 * (BELL(ROOT((y[(((4 * 4 + n) % 2)) % n] + (real)0.198))));
real v6 = (ATAN((((real)1.317 * x[(((3 ^ n) ^ (n / 4))) % n]) * (t1[(((6 >> 1) ^ (9 * 5 + n))) % 4] * (real)((n + n)) * (real)0.07)))) / (real)2.5;
}
