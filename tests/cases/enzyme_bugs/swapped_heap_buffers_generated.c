/* Heap buffers swapped by pointer, reallocated in the reverse sweep without the stores through the swapped pointers: refused with every pipeline. */
/* signature=x[n] -> return | shape=number | real=double | seed=50596 */
static __attribute__((noinline)) void h0_p50596(real *p, const real *q, int m, real s) {
  for (int i = m - 1; i >= 0; i--) { p[m - 1 - i] = p[i] * (real)0.5 + TANH(POW((real)1.2 + FABS((real)-0.259) * FABS((real)-0.259), TANH((s * q[((7 * 4 + (9 * 2 + 7))) % m])))); }
}

static real h1_p50596(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  for (int i = 0; i < k; i++) { a = TANH(((((4 + (7 * 4 + 7))) % 4 == 1) ? (a * a) : (c2[(((9 >> 1) + (4 / 3))) % 2] + c2[(k) % 2]))); if (LESS(a, b)) return a * b; b = b * (real)0.9; }
  return SOFT(a);
}

real p50596(const real *x, int n) {
real y[5]; for (int z = 0; z < 5; z++) y[z] = x[z % n] * (real)0.5;
real *t1 = (real *)malloc(3 * sizeof(real));
for (int i2 = 0; i2 < 3; i2++) t1[i2] = (real)0.3 * ((((real)1.397 * y[(((7 ^ 3) / 5)) % 5]) / ((real)1.5 + (x[(((i2 ^ i2) ^ (0 ^ n))) % n] * y[(n) % 5]) * (x[(((i2 ^ i2) ^ (0 ^ n))) % n] * y[(n) % 5]))));
h0_p50596(y, t1, MIN(5, 3), x[((n % 2)) % n]);
for (int i3 = 0; i3 < (n) % 5 + 1; i3++) {
{ real e4 = t1[(((9 >> 1) * 5 + (n % 3))) % 3]; t1[(((9 >> 1) * 5 + (n % 3))) % 3] = t1[((4 ^ n)) % 3]; t1[((4 ^ n)) % 3] = e4; }
t1[(n) % 3] = t1[(n) % 3] * (real)0.7 + SIN(ROOT(((x[(i3) % n] * t1[(((i3 / 2) % 5)) % 3]) - BELL(t1[((n + (n ^ n))) % 3]))));
}
real *p5 = y, *p6 = t1;
for (int i7 = 0; i7 < 4; i7++) {
for (int j = 0; j < 3; j++) p6[j] = p5[(j + 1) % 3] * (real)0.5 + (((x[(((1 ^ 9) + (n + 6))) % n] / ((real)1.5 + y[((n / 5)) % 5] * y[((n / 5)) % 5])) / ((real)1.5 + h1_p50596(t1[(5) % 3], t1[(n) % 3], 4) * h1_p50596(t1[(5) % 3], t1[(n) % 3], 4)))) / (real)2.5;
real *w = p5; p5 = p6; p6 = w;
}
real m8[4][2];
for (int r = 0; r < 4; r++) for (int c = 0; c < 2; c++) m8[r][c] = (real)0.3 * ((((real)0.645 - (real)0.187) / ((real)1.5 + y[((8 / 3)) % 5] * y[((8 / 3)) % 5])));
for (int r = 0; r < 4; r++) { real s = (real)0.0; for (int c = 0; c < 2; c++) s += m8[r][c] * p5[c % 3]; y[r % 5] += TANH(s); }
y[(((5 ^ n) >> 1)) % 5] *= SIN((((BELL(t1[((2 / 2)) % 3]) * x[(((7 >> 1) / 3)) % n]) / ((real)1.5 + ((x[(((8 ^ 8) / 3)) % n] + y[(((1 ^ 1) / 5)) % 5]) - x[(2) % n]) * ((x[(((8 ^ 8) / 3)) % n] + y[(((1 ^ 1) / 5)) % 5]) - x[(2) % n])))) / (real)2.5);
free(t1);
return y[0] + TANH(y[1]) * y[2] - y[3] * y[4];
}
