/* A loop with trip count 0: Enzyme frees a null cache that it marks nonnull, which crashed in the arena. */
/* signature=x[n] -> return | shape=number | real=double | seed=54704 */
static __attribute__((noinline)) real h0_p54704(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  (void)k; return SIN((((LESS(a, c2[(((9 + 7) + (k ^ 2))) % 2])) ? c2[(((0 * 2 + 0) * 2 + (8 ^ 5))) % 2] : (real)((1 * 5 + 7)) * (real)0.07) + (a + c2[((k % 4)) % 2]))) + (c2[(((k / 3) ^ k)) % 2] * a);
}

real p54704(const real *x, int n) {
real y[5]; for (int z = 0; z < 5; z++) y[z] = x[z % n] * (real)0.5;
real t1[8];
for (int i2 = 0; i2 < 8; i2++) t1[i2] = SIN(FABS((x[((6 ^ 3)) % n] + (real)((4 ^ i2)) * (real)0.07)));
real *t3 = (real *)malloc(8 * sizeof(real));
for (int i4 = 0; i4 < 8; i4++) t3[i4] = (real)0.3 * ((POW((real)1.2 + (real)(n) * (real)0.07 * (real)(n) * (real)0.07, TANH(y[(((n % 4) / 4)) % 5])) / ((real)1.5 + ((real)(i4) * (real)0.07 - (real)0.205) * ((real)(i4) * (real)0.07 - (real)0.205))));
for (int i5 = 0; i5 < (6) % 5 + 1; i5++) {
real v6 = SIN(((((real (*[2])(real, real, int)){h0_p54704, h0_p54704}[(((1 / 2) / 3)) % 2])(t1[(n) % 8], t3[(n) % 8], 1) * ((real)1.077 * y[((i5 * 3 + i5)) % 5])) * (((real)0.922 / ((real)1.5 + t3[(((n / 5) >> 1)) % 8] * t3[(((n / 5) >> 1)) % 8])) - (t1[((n / 4)) % 8] + (real)-1.475))));
for (int i7 = 1; i7 < ((n * 5 + n)) % 5 + 1; i7 += 2) {
real v8 = TANH(ROOT(((v6 * v6) - FABS(v6))));
if ((((n >> 1) >> 1)) % 4 == 1) {
t3[(((n % 3) >> 1)) % 8] = t3[(((n % 3) >> 1)) % 8] * (real)0.7 + (real)0.3 * ((((t3[(((4 + i5) * 3 + (i5 * 4 + i5))) % 8] * v6) * FMAX(t1[((i5 + (i5 ^ n))) % 8], x[(((6 % 2) >> 1)) % n])) + v6));
}
t1[(((4 + i5) ^ i5)) % 8] -= TANH((ROOT((t3[(((i7 % 5) + (n + i5))) % 8] * v8)) / ((real)1.5 + x[((i5 + (i7 % 3))) % n] * x[((i5 + (i7 % 3))) % n])));
}
}
y[(n) % 5] += (real)0.3 * (BELL((((real)1.026 * t3[(((n ^ 7) * 3 + 9)) % 8]) - t3[((n / 4)) % 8])));
free(t3);
return y[0] + TANH(y[1]) * y[2] - y[3] * y[4];
}
