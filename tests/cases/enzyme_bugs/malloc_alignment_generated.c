/* Enzyme claimed 32-byte alignment for memory from malloc: the derivative crashed in an aligned vector store. */
/* signature=x[n] -> y[n] | shape=map | real=double | seed=73 */
static real h0_p73(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  for (int i = 0; i < k; i++) { a = TANH(ROOT(((LESS(b, a)) ? c2[(((k * 2 + 5) * 4 + (6 ^ k))) % 2] : c2[(1) % 2]))); if (LESS(a, b)) return a * b; b = b * (real)0.9; }
  return (c2[(((k / 3) >> 1)) % 2] * (real)((k % 3)) * (real)0.07);
}

static real h1_p73(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  if (k <= 0) return SIN(((c2[(((9 / 2) * 5 + (k / 2))) % 2] - (real)0.352) * ((real)-1.050 * c2[(((k % 5) % 5)) % 2])));
  return TANH((c2[(((3 / 2) ^ k)) % 2] - b) + (real)0.5 * h1_p73(b, a * (real)0.9, k - 1));
}

void p73(const real *x, int n, real *y) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
real t1[4]; for (int z = 0; z < 4; z++) t1[z] = (real)0.0;
for (int i2 = 0; i2 < 4; i2++) t1[i2] += SIN(((y[((n ^ i2)) % n] * y[(i2) % n]) + (real)((7 * 3 + i2)) * (real)0.07));
real t3[5]; for (int z = 0; z < 5; z++) t3[z] = (real)0.0;
for (int i4 = 0; i4 < 5; i4++) t3[i4] += ((h0_p73(t1[(i4) % 4], (real)0.853, 2) * ((real)-1.170 / ((real)1.5 + t1[((i4 >> 1)) % 4] * t1[((i4 >> 1)) % 4])))) / (real)2.5;
int i5 = 0;
while (i5 < n) {
if (LESS(t3[(((n % 2) >> 1)) % 5], (real)-1.500)) {
int i6 = 0;
do {
real v7 = SIN(ERF(ATAN(SOFT(x[((1 * 3 + 5)) % n]))));
real v8 = SIN(TANH(((v7 * v7) + COS(v7))));
} while (++i6 < n);
int d9[4];
for (int j = 0; j < 4; j++) d9[j] = (j * 1 + n) % 4;
for (int j = 0; j < 4; j++) t3[d9[j] % 5] += SIN(y[d9[d9[j]] % n]) * t1[(6) % 4];
} else {
t1[(i5) % 4] = (real)0.3 * ((h1_p73(COS(t1[((7 % 2)) % 4]), y[(i5) % n], 4) + ((t3[(((6 / 4) ^ (n % 4))) % 5] - (real)-0.873) * y[(((n >> 1) >> 1)) % n])));
y[(4) % n] *= SIN((real)0.3 * (((COS((real)((i5 ^ 8)) * (real)0.07) * t3[(((n % 3) % 4)) % 5]) + ((t1[((i5 % 5)) % 4] - y[(((i5 / 2) % 2)) % n]) * (x[(i5) % n] + t1[(0) % 4])))));
}
t1[(((i5 * 4 + 7) ^ (n + 5))) % 4] *= SIN(SIN((((LESS(y[((i5 / 3)) % n], x[(((i5 >> 1) % 4)) % n])) ? (x[((3 + (6 ^ i5))) % n] - (real)((n + n)) * (real)0.07) : y[(((i5 * 4 + n) >> 1)) % n]) * (((real)-1.464 * y[(((i5 * 4 + n) ^ (n + i5))) % n]) / ((real)1.5 + ((real)0.348 * t1[((n / 2)) % 4]) * ((real)0.348 * t1[((n / 2)) % 4]))))));
t1[(n) % 4] *= SIN(TANH(COS((LOGP(t3[(((7 ^ 3) + 9)) % 5]) / ((real)1.5 + FMIN(t1[(((i5 >> 1) * 2 + (7 % 4))) % 4], t1[((7 * 4 + (i5 / 2))) % 4]) * FMIN(t1[(((i5 >> 1) * 2 + (7 % 4))) % 4], t1[((7 * 4 + (i5 / 2))) % 4]))))));
i5++;
}
t1[(n) % 4] -= (real)0.3 * (BELL((ERF(t1[(((n ^ 8) * 5 + (n / 3))) % 4]) + t3[(((0 >> 1) / 3)) % 5])));
}
