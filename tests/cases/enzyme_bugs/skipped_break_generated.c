/* A block with three predecessors: Enzyme read the condition of one before it was computed. A crash. */
/* signature=y[n] -> y[n] | shape=in_place | real=float | seed=71066 */

static real h0_p71066(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  for (int i = 0; i < k; i++) { a = SIN((FMIN(b, c2[((k * 3 + (k >> 1))) % 2]) - (c2[(k) % 2] * c2[(k) % 2]))); if (LESS(a, b)) return a * b; b = b * (real)0.9; }
  return COS(c2[((5 % 4)) % 2]);
}

void p71066(real *y, int n) {
real *t1 = (real *)malloc(4 * sizeof(real));
for (int i2 = 0; i2 < 4; i2++) t1[i2] = (real)0.3 * (BELL((y[(((n + i2) * 2 + 7)) % n] + y[(((n / 5) + (8 >> 1))) % n])));
real t3[6];
for (int i4 = 0; i4 < 6; i4++) t3[i4] = (COS(ROOT((real)((n / 4)) * (real)0.07))) / (real)2.5;
t1[((n ^ (7 * 2 + n))) % 4] = t1[((n ^ (7 * 2 + n))) % 4] * (real)0.7 + ((((t3[(((3 >> 1) % 4)) % 6] / ((real)1.5 + t3[(((9 ^ n) % 3)) % 6] * t3[(((9 ^ n) % 3)) % 6])) * (y[(((3 ^ 9) / 4)) % n] * t1[(0) % 4])) + h0_p71066(t3[(6) % 6], t1[((0 >> 1)) % 4], 1))) / (real)2.5;
real v5 = (ROOT(((t3[((1 + (3 * 5 + n))) % 6] * (real)0.828) + SIN((real)1.242)))) / (real)2.5;
for (int i6 = 0; i6 < n; i6++) {
if ((i6) % 3 == 1) continue;
int d7[6];
for (int j = 0; j < 6; j++) d7[j] = (j * 1 + (n + n)) % 6;
for (int j = 0; j < 6; j++) t3[d7[j] % 6] += SIN(y[d7[d7[j]] % n]) * v5;
for (int i8 = 0; i8 < (n) % 5 + 1; i8++) {
if ((i8) % 3 == 1) continue;
int d9[5];
for (int j = 0; j < 5; j++) d9[j] = (j * 4 + (n ^ i6)) % 5;
for (int j = 0; j < 5; j++) t3[d9[j] % 6] += SIN(t1[d9[d9[j]] % 4]) * v5;
v5 = (real)0.3 * ((((t3[(((n + 2) * 2 + (i8 >> 1))) % 6] * y[(((n / 4) * 2 + (i6 ^ 6))) % n]) * v5) * (t1[(((4 >> 1) >> 1)) % 4] - t1[(((n % 5) ^ 3)) % 4])));
}
t3[((8 * 2 + (n ^ 3))) % 6] *= SIN((SOFT((((real)-1.433 - (real)((5 * 2 + n)) * (real)0.07) * (v5 / ((real)1.5 + y[(i6) % n] * y[(i6) % n]))))) / (real)2.5);
if (i6 > 3) break;
v5 = TANH(v5 + v5);
}
y[n - 1] *= (real)0.9;
free(t1);
}
