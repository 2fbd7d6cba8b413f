/* Memory local to an iteration was recomputed in the reverse sweep from overwritten values: refused with every pipeline. */
/* signature=y[n] -> y[n] | shape=in_place | real=double | seed=54375 */
static real h0_p54375(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  (void)k; return (real)0.3 * ((POW((real)1.2 + a * a, TANH(a)) + (c2[(((1 % 2) * 2 + (7 / 3))) % 2] - c2[(((7 * 3 + k) * 5 + 1)) % 2]))) + ((real)((4 / 3)) * (real)0.07 * (real)1.228);
}

static real h1_p54375(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  for (int i = 0; i < k; i++) { a = SIN((((real)((k ^ 7)) * (real)0.07 - b) - c2[(k) % 2])); if (LESS(a, b)) return a * b; b = b * (real)0.9; }
  return (b * a);
}

void p54375(real *y, int n) {
real t1[6];
for (int i2 = 0; i2 < 6; i2++) t1[i2] = (real)0.3 * ((((real)-0.660 / ((real)1.5 + y[(((n / 3) ^ (9 >> 1))) % n] * y[(((n / 3) ^ (9 >> 1))) % n])) - (y[(4) % n] * y[(((n + 5) / 5)) % n])));
real t3[4];
for (int i4 = 0; i4 < 4; i4++) t3[i4] = (real)0.3 * (LOGP((y[(i4) % n] * t1[(i4) % 6])));
t3[(((1 % 3) * 4 + (0 % 3))) % 4] += (real)0.3 * (FMIN(TANH(h0_p54375((real)1.114, t3[(5) % 4], 2)), FABS(y[(((n ^ 1) % 3)) % n])));
for (int i5 = 5 - 1; i5 >= 0; i5--) {
t3[(((n % 4) ^ (5 + i5))) % 4] += (real)0.3 * ((((t3[(9) % 4] - y[((i5 ^ (2 >> 1))) % n]) / ((real)1.5 + t1[(((0 ^ i5) * 4 + n)) % 6] * t1[(((0 ^ i5) * 4 + n)) % 6])) / ((real)1.5 + ((t1[(((i5 % 3) % 3)) % 6] + t3[(((3 + i5) + 1)) % 4]) + (t3[(n) % 4] + t1[(((i5 / 3) + (n * 3 + 7))) % 6])) * ((t1[(((i5 % 3) % 3)) % 6] + t3[(((3 + i5) + 1)) % 4]) + (t3[(n) % 4] + t1[(((i5 / 3) + (n * 3 + 7))) % 6])))));
t1[(((i5 + 1) ^ (9 / 5))) % 6] = TANH(((ATAN((real)((i5 % 2)) * (real)0.07) * t1[(((6 / 5) ^ (i5 % 2))) % 6]) - FMAX((real)((n % 3)) * (real)0.07, (real)0.363)));
real m6[3][4];
for (int r = 0; r < 3; r++) for (int c = 0; c < 4; c++) m6[r][c] = ((((real)((3 * 5 + i5)) * (real)0.07 - t1[(((r + n) * 4 + (c * 5 + 2))) % 6]) + y[(c) % n])) / (real)2.5;
for (int r = 0; r < 3; r++) { real s = (real)0.0; for (int c = 0; c < 4; c++) s += m6[r][c] * y[c % n]; y[r % n] += TANH(s); }
}
real v7 = SIN(ATAN(h1_p54375(POW((real)1.2 + t1[(1) % 6] * t1[(1) % 6], TANH((real)((n ^ 9)) * (real)0.07)), t1[((n / 3)) % 6], 1)));
y[n - 1] *= (real)0.9;
}
