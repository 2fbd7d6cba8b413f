/* A loop-carried value that each iteration divides and uses: only the last iteration got its adjoint. */
/* signature=x[n] -> y[n], z[3] | shape=several_outputs | real=double | seed=96254 */

static void h0_p96254(real *p, const real *q, int m, real s) {
  for (int i = 0; i < m; i += 2) { *p = *p * (real)0.8 + (((LESS(s, s)) ? ((real)0.814 * p[(((m * 3 + i) / 3)) % m]) : s)) / (real)2.5; s = (((LESS(s, s)) ? ((real)0.814 * p[(((m * 3 + i) / 3)) % m]) : s)) / (real)2.5; }
}

static real h1_p96254(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  if (k <= 0) return TANH(FABS(ROOT(c2[(((9 % 5) % 2)) % 2])));
  return TANH(SOFT(c2[((k ^ (k * 2 + 0))) % 2]) + (real)0.5 * h1_p96254(b, a * (real)0.9, k - 1));
}

void p96254(const real *x, int n, real *y, real *z) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
for (int j = 0; j < 3; j++) z[j] = SIN(x[j % n]);
for (int i1 = 1; i1 < 6; i1 += 2) {
h0_p96254(y, y, MIN(n, n), y[((1 / 3)) % n]);
{ real e2 = y[(((6 ^ i1) / 3)) % n]; y[(((6 ^ i1) / 3)) % n] = y[((n >> 1)) % n]; y[((n >> 1)) % n] = e2; }
}
int i3 = 0;
do {
y[((i3 / 3)) % n] *= SIN((h1_p96254((((LESS(y[(((n >> 1) ^ (i3 + i3))) % n], (real)((0 % 4)) * (real)0.07)) ? (real)1.360 : y[((7 / 3)) % n]) + z[(((6 % 5) ^ 6)) % 3]), y[((1 * 4 + (5 + i3))) % n], 1)) / (real)2.5);
} while (++i3 < n);
for (int i4 = 0; i4 < n; i4++) {
for (int i5 = 0; i5 < n; i5++) {
if ((i5) % 3 == 1) continue;
y[((n / 3)) % n] = (real)0.3 * (SIN(((z[(((1 / 5) ^ (i5 * 2 + i5))) % 3] * y[(((4 * 2 + i5) * 3 + n)) % n]) - (x[((i4 / 3)) % n] * y[(((i5 + i5) / 4)) % n]))));
z[(5) % 3] = z[(5) % 3] * (real)0.7 + (COS(TANH(((real)-0.218 - y[(((i4 >> 1) >> 1)) % n])))) / (real)2.5;
y[((i5 >> 1)) % n] += SIN(SIN(SIN((z[(7) % 3] * y[(((i5 ^ i5) % 2)) % n]))));
}
real v6 = (real)0.3 * (SOFT(SOFT((x[((7 + (i4 / 5))) % n] * z[(((i4 * 3 + i4) >> 1)) % 3]))));
}
}
